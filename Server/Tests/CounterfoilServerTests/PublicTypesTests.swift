import Foundation
import Testing

/// The public types of the module.
///
/// Each is a promise of source stability, so a new one is added here on purpose.
struct PublicTypesTests {
    private static let expected: Set<String> = [
        "AssociationFetch", "AssociationFetcher", "AuthorizationServer", "CallbackOrigin", "ClientFileFetch",
        "ClientFileFetcher", "ClientFileRequest", "DisplayName", "Endpoint", "EndpointAliases", "ExternalSignIn",
        "Heartbeat", "IncomingRequest", "KeyRing", "LogoutNotice", "LogoutNoticeOutcome", "LogoutNoticeSender",
        "LogoutNotifier",
        "MailDelivery", "MailOutcome", "MailSender", "MaintenanceService", "NewClientApproval", "OutboundFailure",
        "OutboundNetworks", "OutgoingMail", "Password", "PasswordHasher", "PathParameters",
        "RegistrationPolicy", "Reply", "RouteTable", "SecondFactorPolicy", "ServerPages", "ServerSettings",
        "SessionPersistence", "SignInLimits", "SignUpPolicy", "Terms", "WebhookNotifier", "WebhookOutcome",
        "WebhookRequest", "WebhookSender",
    ]

    @Test func `only the server, its settings, requests and hooks are public`() throws {
        let module = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/CounterfoilServer").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: module).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 50)
        let declaration =
            /(?m)^public (?:final |indirect )?(?:class|struct|enum|actor|protocol|typealias) (\w+)/
        let found = try files.flatMap { file in
            try String(contentsOfFile: module + "/" + file, encoding: .utf8).matches(of: declaration)
                .map { String($0.output.1) }
        }
        #expect(Set(found) == Self.expected)
    }
}
