import CounterfoilPages
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The validation of a registration by the rules of the server, which reports all problems at once.
struct ClientReview {
    private let rules: ClientRules
    private let type: ClientType
    private let id: ClientIdentifier
    private let schemesInUse: Set<String>

    /// Reads the facts that the rules need: the settings of the server that administration commands share with it, and
    /// the redirect URI schemes of the owner's other clients.
    init(
        of type: ClientType, id: ClientIdentifier, owner: UserIdentifier?, in installation: Installation
    ) async throws {
        rules = ClientRules(
            issuer: installation.issuer, callbackOrigin: installation.callbackOrigin,
            plainSchemes: installation.plainSchemes,
            allowsDevelopment: installation.allowsDevelopmentRedirectURIs, formats: .standard)
        self.type = type
        self.id = id
        let others = try await installation.store.clients().filter { $0.owner == owner && $0.id != id }
        schemesInUse = RedirectURIContext.schemes(of: others)
    }

    /// Validates the draft of a registration and the draft of a policy.
    ///
    /// - Parameters:
    ///   - draft: The draft of the registration.
    ///   - policyDraft: The draft of the policy, on which the rules of the registration depend, too.
    ///   - checksPolicy: Whether the policy itself is validated; if false, the result contains none.
    ///   - now: The current time.
    func check(
        _ draft: ClientDraft, policy policyDraft: PolicyDraft, checksPolicy: Bool = true, now: Date
    ) throws -> (client: CheckedClient, policy: ClientPolicy?) {
        var problems: [ClientProblem] = []
        var client: CheckedClient?
        var policy: ClientPolicy?
        do {
            client = try rules.check(
                draft, type: type, id: id, isFirstParty: policyDraft.isFirstParty, schemesInUse: schemesInUse)
        } catch { problems += error.problems }
        if checksPolicy {
            let redirectURIs = client?.redirectURIs ?? draft.redirectURIs.compactMap { try? RedirectURI($0) }
            let scope = client?.scope ?? Scope(draft.scopes.compactMap { Scope.Token($0) })
            do {
                // The rules of the registration have already judged the post-logout redirect URIs by the same policy.
                policy = try rules.check(
                    policyDraft, of: type, redirectURIs: redirectURIs,
                    postLogoutRedirectURIs: client?.postLogoutRedirectURIs ?? [], scope: scope, now: now)
            } catch { problems += error.problems }
        }
        guard problems.isEmpty, let client else { throw CommandFailure.refused(problems) }
        return (client, policy)
    }

    /// Prints the warnings and notes about accepted redirect URIs on standard error.
    func warn(of draft: ClientDraft, policy: ClientPolicy) {
        let context = rules.context(draft, type: type, id: id, isFirstParty: false, schemesInUse: schemesInUse)
        for text in draft.redirectURIs {
            guard case .accepted(let uri, let warnings) = RedirectURIRegistration.verdict(on: text, for: context) else {
                continue
            }
            for warning in warnings where warning != .claimed || !policy.isClaimedHTTPSVerified {
                Output.note("\(warning.isNote ? "note" : "warning"): \(uri): \(Localizer.english(warning.text))")
            }
        }
    }
}

extension CommandFailure {
    /// Creates a failure that lists the problems of a registration, one a line, each after the name of its option.
    static func refused(_ problems: [ClientProblem]) -> CommandFailure {
        .refused(
            problems.map { problem in
                (problem.field.option.map { "\($0): " } ?? "") + Localizer.english(problem.text)
            }.joined(separator: "\n  ")
        )
    }

    /// Creates a failure that says why a logo cannot be used.
    static func refused(_ refusal: LogoRefusal) -> CommandFailure {
        .refused("--logo: \(Localizer.english(refusal.text))")
    }

    static func unknownScopes(_ scope: Scope) -> CommandFailure {
        .refused("there is no scope named \(scope); create it first with: counterfoil-server scope create")
    }
}

extension Installation {
    /// Creates the events of a change of a client: the change itself, and the scopes that the client gained or lost for
    /// requests without a user.
    func events(
        ofChange detail: String, from former: RegisteredClient?, to client: RegisteredClient
    ) -> [AuditEvent] {
        let change = event(.client, client: client.id, detail: detail)
            .named(former == nil ? .clientCreated : nil)
        guard let access = MachineAccessChange(from: former, to: client) else { return [change] }
        return [change, event(.machineAccess, client: client.id, detail: access.detail)]
    }
}

extension Installation {
    /// Creates the event of a change of the developer who owns a client; none if the owner stays.
    func events(
        ofOwner owner: UserIdentifier?, after former: UserIdentifier?, of client: ClientIdentifier
    ) -> [AuditEvent] {
        guard owner != former else { return [] }
        return [
            event(
                .client, user: owner ?? former, client: client,
                detail: owner == nil ? "taken from its developer" : "given to a developer")
        ]
    }

    /// Returns the name of the user who owns a client; nil if no user does.
    func developer(of client: RegisteredClient) async throws -> Username? {
        guard let owner = client.owner else { return nil }
        return try await store.user(owner)?.username
    }
}

extension Logo {
    /// Reads an image file and converts it to a logo.
    static func encoded(from path: String) throws -> Logo {
        let upload = try InputFile.bytes(at: path, limit: LogoEncoder.uploadLimit)
        do { return try ContentFormats.standard.logo(upload) } catch { throw CommandFailure.refused(error) }
    }
}

extension ClientField {
    /// The command-line option that sets the field; nil if no single option does.
    ///
    /// Most options are named like their field.
    fileprivate var option: String? {
        switch self {
        case .whole: nil
        case .redirectURIs: "--redirect-uri"
        case .privacyURI: "--privacy-uri"
        case .termsURI: "--terms-uri"
        case .origins: "--origin"
        case .testers: "--tester"
        case .appleApps: "--ios-app"
        case .androidApps: "--android-app"
        case .postLogoutRedirectURIs: "--post-logout-redirect-uri"
        case .exemptUntil: "--pkce"
        default: "--" + rawValue.replacing("_", with: "-")
        }
    }
}
