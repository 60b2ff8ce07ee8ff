import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The reasons why an API rejected an access token with the status 401, as far as the token, the response and the
/// metadata of the API show them.
struct TokenRejection {
    /// The differences between the token and what the API accepts, each as a clause about the token or the API.
    private(set) var differences: [String] = []

    private let credentials: Credentials
    /// The claims of the token; nil if the token is opaque.
    private let claims: UnverifiedClaims?
    /// The challenges of the response.
    private let challenges: [AuthenticationChallenge]
    /// The sign-in that the API would accept.
    private var command: LoginCommand
    /// Whether another sign-in removes a difference.
    private var isMendedBySignIn = false
    /// The sign-in with the URI of the API as the audience; nil unless the issuer is the only audience of the token and
    /// the API publishes no metadata.
    private var commandForOwnAudience: LoginCommand?

    /// Compares the token of some credentials with the response of an API, and with the metadata of the API if it
    /// publishes any (RFC 9728).
    ///
    /// - Parameter command: The command that repeats the sign-in.
    init(
        of credentials: Credentials, by response: HTTPResponse, at url: EndpointURL, command: LoginCommand,
        transport: any HTTPTransport = .standard
    ) async {
        self.credentials = credentials
        self.command = command
        claims = UnverifiedClaims(credentials.accessToken.exposed)
        challenges = response.headerFields[values: .wwwAuthenticate].flatMap(AuthenticationChallenge.list)
        let api = try? await ResourceDiscovery(transport: transport).metadata(of: url.rawValue)
        compareIssuer(with: api)
        compareScheme()
        compareAudience(with: api, at: url)
        compareExpiration(at: response.headerFields[.date].flatMap(HTTPDate.parse) ?? Date())
        compareScope()
    }

    /// The failure of a command that sent the token.
    var failure: Failure {
        let beginning = "the API rejected the token (status 401)"
        guard differences.isEmpty else {
            let sentence = "\(beginning): \(differences.joined(separator: "; "))"
            guard isMendedBySignIn else { return Failure(.refused, sentence) }
            return Failure(.signInRequired, "\(sentence). Run: \(command)")
        }
        let reason = challenges.compactMap { $0["error_description"] }.first
        let sentence =
            beginning + (reason.map { ": \(String($0.prefix(200))). " } ?? ", and its response does not show why. ")
            + facts
        let comparison = "compare the issuer and the audience of the token with those that the API expects"
        // A refresh would have failed if the sign-in had ended at the server.
        guard credentials.refreshToken == nil else {
            guard commandForOwnAudience == nil else {
                return Failure(
                    .refused,
                    "\(sentence) Otherwise another sign-in does not help, because a new token was rejected too: "
                        + comparison)
            }
            return Failure(
                .refused, "\(sentence) A new token was rejected too, so another sign-in does not help: \(comparison)")
        }
        return Failure(
            .signInRequired,
            "\(sentence) If the sign-in was ended at the server, run: \(command). Otherwise \(comparison)")
    }

    /// The clause about a token whose only audience is its issuer, if the API may expect its own URI; nil otherwise.
    var possibleDifference: String? {
        guard commandForOwnAudience != nil else { return nil }
        return "the token is for \(credentials.issuer), and the API may expect its own URI as the audience"
    }

    /// The sentence that says who issued the token and for which APIs.
    private var facts: String {
        if let commandForOwnAudience {
            return "The token is for \(credentials.issuer); if the API expects its own URI as the audience, run: "
                + "\(commandForOwnAudience)."
        }
        let issuer = claims?.issuer ?? credentials.issuer.rawValue
        guard let audience = claims?.audience, !audience.isEmpty else { return "The issuer of the token is \(issuer)." }
        return "The issuer of the token is \(issuer), and its audience is \(audience.joined(separator: ", "))."
    }
}

// MARK: - Comparisons

extension TokenRejection {
    /// Compares the scheme of the request with those of the challenges (RFC 9110 §11.6.1, RFC 9449 §7.1).
    private mutating func compareScheme() {
        let sent = credentials.authorizationScheme
        let asked = challenges.map(\.scheme)
        guard !asked.isEmpty, !asked.contains(sent.lowercased()) else { return }
        switch asked.first(where: { ["bearer", "dpop"].contains($0) }) {
        case "dpop":
            differences.append("it asks for a token that is bound to a key (DPoP), and this token is not")
            command.settings.dpop = true
        case .some where credentials.proofKey != nil:
            differences.append("it asks for a Bearer token, and this token is bound to a key (DPoP)")
            command.settings.dpop = false
        case .some:
            differences.append("it asks for the scheme Bearer, and --vendor sent \(sent)")
            guard command.settings.vendor != nil else { break }
            command.settings.vendor = nil
            command.settings.issuer = credentials.issuer.rawValue
        case nil:
            differences.append(
                "it asks for the scheme \(asked.joined(separator: ", ")), and not for an access token; check the URL")
            return
        }
        isMendedBySignIn = true
    }

    /// Compares the issuer with the authorization servers that the API names (RFC 9728 §2).
    private mutating func compareIssuer(with api: ResourceDiscovery.ProtectedResource?) {
        guard let servers = api?.authorizationServers, let server = servers.first,
            !servers.contains(credentials.issuer)
        else { return }
        differences.append("it accepts tokens of \(server), and this token is from \(credentials.issuer)")
        command.settings = LoginSettings()
        command.settings.issuer = server.rawValue
        isMendedBySignIn = true
    }

    /// Compares `aud` with the identifier of the API, or with the origin of its URL if the API does not name itself.
    ///
    /// For an opaque token, the resources of the request are compared (RFC 8707 §2). Without metadata of the API, the
    /// issuer as the only audience is no difference.
    private mutating func compareAudience(with api: ResourceDiscovery.ProtectedResource?, at url: EndpointURL) {
        let audience = claims?.audience ?? credentials.resources.map(\.rawValue)
        guard !audience.isEmpty else { return }
        let wanted: Resource?
        if let api {
            guard !audience.contains(where: { (try? Resource($0)) == api.resource }) else { return }
            wanted = api.resource
        } else {
            // An identifier that is no URL may be that of this API.
            let origins = audience.map { (try? EndpointURL($0)).map { APIOrigin(of: $0) } }
            guard !origins.contains(APIOrigin(of: url)), !origins.contains(nil) else { return }
            wanted = try? Resource(APIOrigin(of: url).rawValue)
            // An API may accept the issuer as the audience. The server then knows no resource with the URI of the API.
            let issuer = credentials.issuer.rawValue
            guard !audience.allSatisfy({ $0 == issuer }) else {
                guard let wanted, command.settings.resource?.contains(wanted.rawValue) != true else { return }
                var other = command
                other.settings.resource = (other.settings.resource ?? []) + [wanted.rawValue]
                commandForOwnAudience = other
                return
            }
        }
        guard let wanted else { return }
        differences.append("the token is for \(audience.joined(separator: ", ")), and not for \(wanted)")
        if command.settings.resource?.contains(wanted.rawValue) != true {
            command.settings.resource = (command.settings.resource ?? []) + [wanted.rawValue]
        }
        isMendedBySignIn = true
    }

    /// Compares `exp` with the clock of the API.
    private mutating func compareExpiration(at time: Date) {
        guard let expires = claims?.expires ?? credentials.expires, expires <= max(time, Date()) else { return }
        if expires <= Date() {
            differences.append("the token expired at \(expires.formatted(.iso8601))")
            isMendedBySignIn = true
        } else {
            let seconds = Int(time.timeIntervalSinceNow.rounded())
            differences.append(
                "by the clock of the API, which is \(seconds) s ahead of this device's, the token has expired; synchronize "
                    + "both clocks with NTP")
        }
    }

    /// Compares the scope with the one that the challenge names (RFC 6750 §3).
    private mutating func compareScope() {
        let asked = challenges.compactMap { $0["scope"] }.first.flatMap { try? Scope(lenient: $0) } ?? Scope()
        let granted = claims?.scope ?? credentials.scope
        let missing = Scope(asked.tokens.filter { !granted.contains($0) })
        guard !missing.isEmpty else { return }
        differences.append("the token does not have the scope \(missing)")
        let former = (command.settings.scope ?? []).joined(separator: " ")
        command.settings.scope = [former.isEmpty ? missing.description : "\(former) \(missing)"]
        isMendedBySignIn = true
    }
}

extension Credentials {
    /// The APIs for which the access token is, if the issuer is certainly none of them; nil otherwise.
    ///
    /// The UserInfo endpoint of the issuer then rejects the token. An identifier that is no URL may be that of the
    /// issuer.
    var foreignAudience: String? {
        let audience = UnverifiedClaims(accessToken.exposed)?.audience ?? resources.map(\.rawValue)
        let origins = audience.map { (try? EndpointURL($0))?.origin.lowercased() }
        guard !origins.isEmpty, !origins.contains(nil), !origins.contains(issuer.origin.lowercased()) else {
            return nil
        }
        return audience.joined(separator: ", ")
    }
}
