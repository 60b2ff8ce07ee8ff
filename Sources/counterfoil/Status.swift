import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil status` shows the state of a stored sign-in, without a request.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether a sign-in is good, where, and until when.",
        discussion: """
            No request is sent. A sign-in is good if its access token is valid or there is a refresh token. The server may \
            have revoked them; counterfoil whoami asks the server. The exit code is 0 if the sign-in is good, and 3 if it \
            is not, or if there is none.

            Examples:
              counterfoil status
              counterfoil status --json --profile work

            \(ExitStatus.help)
            """
    )

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let opened = try await common.openStore()
            guard let credentials = try await opened.store.credentials(of: common.profile) else {
                guard common.json else { throw Failure(SessionError.notSignedIn(common.profile)) }
                try console.result(SignInStatus(of: common.profile))
                throw ExitCode(ExitStatus.signInRequired.rawValue)
            }
            let status = SignInStatus(of: common.profile, credentials, in: opened.location)
            if common.json {
                try console.result(status)
            } else {
                for line in status.lines { try console.result(line) }
            }
            if !status.good { throw ExitCode(ExitStatus.signInRequired.rawValue) }
        }
    }
}

/// The state of a stored sign-in, without its tokens.
private struct SignInStatus: Encodable {
    let profile: String
    let signed_in: Bool
    /// Whether the access token is valid or can be refreshed.
    let good: Bool
    private var issuer: String?
    private var client_id: String?
    private var subject: String?
    private var name: String?
    /// The authentication context and the methods of the sign-in.
    private var acr: String?
    private var amr: [String]?
    private var scope: String?
    private var apis: [String]?
    private var expires_at: Date?
    private var refreshable: Bool?
    private var bound_to_key: Bool?
    private var is_service: Bool?
    private var stored_in: String?
    /// Whether this device's clock was set back since the access token arrived, so that its expiration is not known.
    private var isOfUnknownAge = false

    private enum CodingKeys: CodingKey {
        case profile, signed_in, good, issuer, client_id, subject, name, acr, amr, scope, apis, expires_at
        case refreshable, bound_to_key, is_service, stored_in
    }

    /// The state of a profile without a sign-in.
    init(of profile: ProfileName) {
        self.profile = profile.rawValue
        (signed_in, good) = (false, false)
    }

    init(of profile: ProfileName, _ credentials: Credentials, in location: OpenedTokenStore.Location) {
        self.profile = profile.rawValue
        signed_in = true
        let isRefreshable = credentials.refreshToken != nil
        good = StoredSignIn(TokenRecord(credentials)).isGood()
        issuer = credentials.issuer.rawValue
        client_id = credentials.clientID.rawValue
        subject = credentials.user?.subject
        name = credentials.user?.name ?? credentials.user?.email
        acr = credentials.user?.authenticationContext
        amr = credentials.user.map(\.authenticationMethods).flatMap { $0.isEmpty ? nil : $0 }
        scope = credentials.scope.description
        apis = credentials.allowedOrigins.map(\.rawValue).sorted()
        isOfUnknownAge = credentials.clockWasSetBack()
        expires_at = isOfUnknownAge ? nil : credentials.expires
        refreshable = isRefreshable
        bound_to_key = credentials.proofKey != nil
        is_service = credentials.isOfService ? true : nil
        stored_in = "\(location)"
    }

    var lines: [String] {
        var lines = ["Profile: \(profile)"]
        if let subject { lines.append("User: " + (name.map { "\($0) (\(subject))" } ?? subject)) }
        if let way = acr.map({ "\(SpokenContext($0))" }) ?? amr?.joined(separator: " ") {
            lines.append("Signed in with: \(way)")
        }
        lines.append("Server: \(issuer ?? "")")
        lines.append("Client: \(client_id ?? "")")
        if let scope, !scope.isEmpty { lines.append("Scope: \(scope)") }
        if let apis, !apis.isEmpty { lines.append("APIs: " + apis.joined(separator: " ")) }
        lines.append("Access token: \(validity)" + (bound_to_key == true ? ", bound to a key of this device" : ""))
        if is_service == true {
            lines.append("Refresh token: none, because a service authenticates again for each access token")
        } else if good, refreshable == false {
            lines.append("Refresh token: none, so the sign-in ends with the access token")
        }
        lines.append("Stored in: \(stored_in ?? "")")
        lines.append(
            good
                ? "The sign-in is good on this device; the server was not asked."
                : "Sign in again: counterfoil login --profile \(profile)")
        return lines
    }

    private var validity: String {
        let renewal = refreshable == true || is_service == true ? ", refreshed at its next use" : ""
        if isOfUnknownAge {
            return "of unknown age, because this device's clock was set back after the token arrived" + renewal
        }
        guard let expires_at else { return "valid, with an expiration that the server did not send" }
        let time = expires_at.formatted(.iso8601)
        let seconds = Int(expires_at.timeIntervalSinceNow.rounded(.up))
        if seconds > 0 {
            return "valid until \(time) (\(seconds >= 120 ? "\(seconds / 60) min" : "\(seconds) s") left)"
        }
        return "expired at \(time)" + renewal
    }
}
