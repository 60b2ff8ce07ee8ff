import Foundation
import Testing

/// The public types of the module.
///
/// Each is a promise of source stability, so a new one is added here on purpose.
struct PublicTypesTests {
    /// The public top-level types outside the folder of the store.
    private static let expected: Set<String> = [
        "AccentColor", "AssociationFetch", "AssociationFetcher", "AuthorizationServer", "CallbackOrigin",
        "ClientAppearance", "ClientFileFetch", "ClientFileFetcher", "ClientFileRequest", "DisplayName", "Endpoint",
        "EndpointAliases", "Heartbeat", "IncomingRequest", "KeyRing",
        "Language", "LogoutNotice", "LogoutNoticeOutcome", "LogoutNoticeSender", "LogoutNotifier", "MaintenanceService",
        "OutboundFailure", "OutboundNetworks", "Password", "PasswordHash", "PasswordHasher", "PathParameters",
        "RegistrationPolicy", "Reply", "ResponseRedirectURI", "RouteTable", "ServerKey", "ServerPages",
        "ServerSettings", "SignInLimits",
    ]

    @Test func `only the server, its settings, requests, hooks and stores are public`() throws {
        let module = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/CounterfoilServer").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: module).filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("Store/")
        }
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
