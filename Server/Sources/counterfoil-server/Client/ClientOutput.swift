import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// A client as text, made from its record in the administration API.
struct ClientOutput {
    private let record: AdministrationRecord
    private let type: ClientType?
    /// Whether the text says how the client connects.
    private let showsConnection: Bool

    init(_ record: AdministrationRecord, showsConnection: Bool = false) {
        self.record = record
        self.showsConnection = showsConnection
        type = record.text("application_type").flatMap(ClientType.init(rawValue:))
    }

    var id: String { shown("client_id") ?? "" }

    var name: DisplayName { DisplayName(record.text("client_name") ?? "", orElse: id) }

    /// The name and the identifier, which tells the apps of strangers apart.
    var title: String { "\(name), \(id)" }

    /// The client as one line of text.
    var line: String {
        var line = "\(id)  \(shown("application_type") ?? "")  \(name)"
        if record.record("suspension") != nil {
            line += "  suspended"
        } else if isPending || isInDevelopment {
            line += "  \(shown("approval") ?? "")"
        }
        if let scope = shown("pending_machine_scope") { line += "  awaiting approval: \(scope)" }
        if let use = record.record("use"), use.integer("last_used_at") != nil { line += "  \(Self.words(of: use))" }
        return line
    }

    /// The registration as text, one line for each value.
    ///
    /// Default values are omitted.
    var words: String {
        var lines = ["\(name)", "  client_id: \(id)"]
        func add(_ name: String, _ value: String?) { if let value { lines.append("  \(name): \(value)") } }
        add("client_secret", shown("client_secret"))
        add("type", (shown("application_type") ?? "") + (isConfidential ? "" : ", no secret"))
        add("developer", shown("developer"))
        add("managed by", joined("developers"))
        add("use", record.record("use").map(Self.words(of:)))
        lines += standingLines + presentationLines + list("redirect_uris", as: "redirect URI")
        add("scope", shown("scope"))
        add("optional", shown("optional_scope"))
        add("reserved", shown("reserved_scope"))
        add("without a user", shown("machine_scope"))
        add("awaiting approval", shown("pending_machine_scope"))
        lines += list("origins", as: "origin").map { $0 + ($0.hasSuffix(":*") ? " (any port)" : "") }
        lines += list("apple_apps", as: "Apple app") + list("android_apps", as: "Android app")
        lines += list("post_logout_redirect_uris", as: "redirect URI after sign-out")
        add("back-channel logout URI", shown("backchannel_logout_uri"))
        for key in record.record("jwks")?.records("keys") ?? [] {
            add("key", ["alg", "kid"].compactMap { key.text($0)?.visible }.joined(separator: " "))
        }
        lines += policyLines
        if record.text("client_secret") == nil {
            for secret in record.records("client_secrets") {
                add("secret", "\(secret.text("id")?.visible ?? ""), created \(Self.day(secret, "created_at"))")
            }
        }
        return (lines + connectionLines).joined(separator: "\n")
    }

    /// The text of a member; nil if it is absent or empty.
    private func shown(_ member: String) -> String? {
        record.text(member).flatMap { $0.isEmpty ? nil : $0.visible }
    }

    private func joined(_ member: String) -> String? {
        let texts = record.texts(member)
        return texts.isEmpty ? nil : texts.joined(separator: " ").visible
    }

    private func list(_ member: String, as name: String) -> [String] {
        record.texts(member).map { "  \(name): \($0.visible)" }
    }

    /// The day of a member that is a number of seconds since 1970.
    private static func day(_ record: AdministrationRecord, _ member: String) -> CalendarDay {
        CalendarDay(of: Date(timeIntervalSince1970: TimeInterval(record.integer(member) ?? 0)))
    }

    /// The use of a client as text.
    private static func words(of use: AdministrationRecord) -> String {
        let users = use.integer("users") ?? 0
        let number = "\(use.flag("is_exact") ? "" : "more than ")\(users) user\(users == 1 ? "" : "s")"
        return number
            + (use.integer("last_used_at") == nil ? ", never used" : ", last use on \(day(use, "last_used_at"))")
    }
}

// MARK: - Standing and presentation

extension ClientOutput {
    private var isConfidential: Bool { record.text("token_endpoint_auth_method") != "none" }

    private var isPending: Bool { record.text("approval") == "pending" && !record.flag("first_party") }

    private var isInDevelopment: Bool { record.text("approval") == "development" && !record.flag("first_party") }

    /// The lines about the suspension, the approval and the testers.
    private var standingLines: [String] {
        var lines: [String] = []
        if let suspension = record.record("suspension") {
            lines.append("  SUSPENDED on \(Self.day(suspension, "at")): \(suspension.text("reason")?.visible ?? "")")
        }
        if isPending { lines.append("  pending: no user can sign in before: app approve") }
        if isInDevelopment {
            lines.append("  in development: only its developer and the testers can sign in before: app approve")
        }
        if let testers = joined("testers") { lines.append("  testers: \(testers)") }
        return lines
    }

    private var presentationLines: [String] {
        var lines: [String] = []
        if let publisher = record.text("publisher") { lines.append("  publisher: \(DisplayName(publisher))") }
        if let text = record.text("consent_text") { lines.append("  consent page text: \(text.count) characters") }
        if let uri = shown("policy_uri") { lines.append("  privacy policy: \(uri)") }
        if let uri = shown("tos_uri") { lines.append("  terms of service: \(uri)") }
        if record.text("logo") != nil { lines.append("  has a logo") }
        return lines
    }
}

// MARK: - Policy

extension ClientOutput {
    private var policyLines: [String] {
        let usual = type.map { ClientPolicy.standard(for: $0) }
        var lines: [String] = []
        if record.flag("first_party") { lines.append("  first party: users are not asked for consent") }
        if !record.flag("vouched_for") { lines.append("  not vouched for: pages show a warning") }
        if record.flag("claimed_https_verified") { lines.append("  https redirect URIs verified") }
        lines += signInLines
        if let usual, record.flag("require_state") != usual.requiresState {
            lines.append("  requests without state are \(record.flag("require_state") ? "refused" : "accepted")")
        }
        if record.flag("require_pushed_authorization_requests") {
            lines.append("  authorization requests must be pushed (PAR)")
        }
        if record.flag("dpop_bound_access_tokens") { lines.append("  access tokens must be bound to a key (DPoP)") }
        func add(_ name: String, _ value: String?, unless usual: String?) {
            if let value, value != usual { lines.append("  \(name): \(value)") }
        }
        add("refresh tokens", shown("refresh_tokens"), unless: RefreshTokenPolicy.offlineAccess.rawValue)
        add("access token lifetime", record.integer("access_token_lifetime").map { "\($0) seconds" }, unless: nil)
        add("ID token lifetime", record.integer("id_token_lifetime").map { "\($0) seconds" }, unless: nil)
        add("web-views", shown("web_views"), unless: usual?.webViews.rawValue)
        add("minimum sign-in", shown("minimum_authentication"), unless: AuthenticationContext.password.rawValue)
        add("subject identifiers", shown("subject_type"), unless: SubjectType.public.rawValue)
        return lines
    }

    /// The settings on which the configuration of the client depends, each with its reason.
    private var signInLines: [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String, _ reason: PolicyReason?) {
            lines.append("  \(name): \(value)")
            if let reason { lines.append("    \(Localizer.english(reason.text))") }
        }
        if let type, type.hasRedirectURIs, let pkce = shown("pkce") {
            let policy = PKCEPolicy(pkce)
            let use = record.record("pkce_exception_use").map {
                ", used \($0.integer("count") ?? 0) times, last on \(Self.day($0, "last_at"))"
            }
            add(
                policy?.isException == true ? "DANGER, PKCE" : "PKCE", pkce + (use ?? ""),
                policy.map { PolicyReason($0, of: type) })
        }
        if type != .service {
            let algorithm = shown("id_token_signed_response_alg") ?? ""
            let hasClaims = record.flag("user_claims_in_id_token")
            add("ID token algorithm", algorithm, SigningAlgorithm(rawValue: algorithm).map { PolicyReason($0) })
            add(
                "profile and email in ID tokens", hasClaims ? "yes" : "no",
                PolicyReason(userClaimsInIDToken: hasClaims))
        }
        return lines
    }
}

// MARK: - Connection

extension ClientOutput {
    /// The way in which the client connects; nil if the issuer is unknown.
    private var connection: AdministrationRecord? { record.record("connection") }

    private var connectionLines: [String] {
        guard showsConnection else { return [] }
        guard let connection else {
            return ["  issuer: unknown until the server has started once; then app show prints how to connect"]
        }
        var lines: [String] = []
        func add(_ name: String, _ value: String?) { if let value { lines.append("  \(name): \(value.visible)") } }
        add("issuer", connection.text("issuer"))
        add("discovery URL", connection.text("openid_configuration"))
        add("discovery URL (OAuth)", connection.text("oauth_authorization_server"))
        for endpoint in ConnectionEndpoint.allCases { add(endpoint.words, connection.text(endpoint.rawValue)) }
        for api in connection.records("apis") {
            let (resource, scope) = (api.text("resource") ?? "", api.text("scope") ?? "")
            add("API \(DisplayName(api.text("name") ?? ""))", "\(resource), scope \(scope)")
        }
        add("client authentication", connection.texts("token_endpoint_auth_methods").joined(separator: ", "))
        if let first = configurationNames.first {
            add("ready configurations", configurationNames.joined(separator: ", "))
            lines.append("    print one with: counterfoil-server app show \(id) --configuration \(first.visible)")
        }
        return lines
    }

    /// The names of the ready configurations, the most common library first.
    private var configurationNames: [String] {
        let names = Set((connection?.record("configurations")?.members ?? [:]).keys)
        let known = ReadyConfiguration.names.filter(names.contains)
        return known + names.subtracting(known).sorted()
    }

    /// Returns the text of a ready configuration; fails the command if there is none with the name.
    func configuration(named name: String) throws(CommandFailure) -> String {
        guard let connection else {
            throw .refused(
                "the issuer is unknown until the server has started once; see: counterfoil-server serve --help")
        }
        guard let text = connection.record("configurations")?.text(name) else {
            throw .refused(
                configurationNames.isEmpty
                    ? "there is no ready configuration for this app"
                    : "there is no configuration \(name.prefix(40).debugDescription) for this app; choose one of "
                        + configurationNames.joined(separator: ", ").visible)
        }
        return String(VisibleText(of: text.unicodeScalars, keepsLines: true).scalars)
            .trimmingCharacters(in: .newlines)
    }

    /// Prints the client as JSON, with a note on standard error if the issuer is unknown.
    func printJSON() throws {
        try Output.json(record)
        if showsConnection, connection == nil {
            Output.note(
                "note: the issuer is unknown until the server has started once, so the member connection is missing")
        }
    }

    /// Prints the warnings of the server about redirect URIs on standard error.
    func printWarnings() {
        for warning in record.records("warnings") {
            let (severity, uri) = (warning.text("severity") ?? "", warning.text("redirect_uri") ?? "")
            Output.note("\(severity): \(uri): \(warning.text("detail") ?? "")".visible)
        }
    }
}

extension ConnectionEndpoint {
    /// The name in text output.
    fileprivate var words: String {
        switch self {
        case .authorization: "authorization endpoint"
        case .token: "token endpoint"
        case .userInfo: "UserInfo endpoint"
        case .keySet: "public keys (JWKS)"
        case .revocation: "revocation endpoint"
        case .introspection: "introspection endpoint"
        case .endSession: "end-session endpoint"
        }
    }
}
