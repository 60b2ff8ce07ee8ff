import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The changes of a client's registration and policy in the body of a request.
///
/// A member that is absent keeps the former value, and null clears it. The values are not checked here: ``ClientRules``
/// checks the drafts that they are written into.
struct ClientChange: Sendable {
    private typealias Text = WritableKeyPath<ClientDraft, String> & Sendable
    private typealias List = WritableKeyPath<ClientDraft, [String]> & Sendable
    private typealias PolicyText = WritableKeyPath<PolicyDraft, String> & Sendable
    private typealias PolicyFlag = WritableKeyPath<PolicyDraft, Bool> & Sendable

    private static let texts: [(String, any Text)] = [
        ("client_name", \.name), ("publisher", \.publisher), ("consent_text", \.consentText),
        ("policy_uri", \.privacyURI), ("tos_uri", \.termsURI), ("backchannel_logout_uri", \.backchannelLogoutURI),
    ]
    private static let lists: [(String, any List)] = [
        ("redirect_uris", \.redirectURIs), ("testers", \.testers), ("origins", \.origins), ("apple_apps", \.appleApps),
        ("android_apps", \.androidApps), ("post_logout_redirect_uris", \.postLogoutRedirectURIs),
    ]
    private static let scopes: [(String, any List)] = [
        ("scope", \.scopes), ("optional_scope", \.optionalScopes),
    ]
    private static let policyTexts: [(String, any PolicyText)] = [
        ("pkce", \.pkce), ("refresh_tokens", \.refreshTokens), ("web_views", \.webViews),
        ("minimum_authentication", \.minimumAuthentication), ("id_token_signed_response_alg", \.idTokenAlgorithm),
        ("subject_type", \.subjectType),
    ]
    private static let policyFlags: [(String, any PolicyFlag)] = [
        ("first_party", \.isFirstParty), ("vouched_for", \.isVouchedFor),
        ("claimed_https_verified", \.isClaimedHTTPSVerified), ("require_state", \.requiresState),
        ("require_pushed_authorization_requests", \.requiresPushedRequests),
        ("dpop_bound_access_tokens", \.requiresBoundTokens),
    ]
    /// The flags and numbers of the policy that a draft has as texts.
    private static let flagTexts: [(String, any PolicyText)] = [
        ("user_claims_in_id_token", \.userClaimsInIDToken), ("rotate_refresh_tokens", \.rotatesRefreshTokens),
    ]
    private static let numbers: [(String, any PolicyText)] = [
        ("refresh_grace_period", \.refreshGracePeriod), ("refresh_idle_lifetime", \.refreshIdleLifetime),
        ("refresh_lifetime", \.refreshLifetime), ("access_token_lifetime", \.accessTokenLifetime),
        ("id_token_lifetime", \.idTokenLifetime),
    ]
    private static let machineScope = "machine_scope"
    private static let acceptedURIs = "accepted_redirect_uris"
    static let logoImage = "logo_image"

    /// The names of the members.
    static let members =
        texts.map(\.0) + lists.map(\.0) + scopes.map(\.0) + policyTexts.map(\.0) + policyFlags.map(\.0)
        + flagTexts.map(\.0) + numbers.map(\.0) + [machineScope, "jwks", "developer", acceptedURIs, logoImage]

    private var draftTexts: [String: String] = [:]
    private var draftLists: [String: [String]] = [:]
    private var policy: [String: String] = [:]
    private var flags: [String: Bool] = [:]
    private(set) var machineScopes: [String]?
    /// The new owner, which is nil to leave the client without one; nil to keep the former owner.
    private(set) var developer: Username??
    /// The redirect URIs that are accepted although their scheme breaks the rules.
    private var accepted: [String] = []
    /// The file with the new logo, which is nil to remove the logo; nil to keep it.
    private(set) var logo: [UInt8]??

    /// Whether a member of the policy is there.
    var changesPolicy: Bool { !policy.isEmpty || !flags.isEmpty || machineScopes != nil }

    /// Reads the members, and notes a problem for each that has another type.
    init<Member: ClientMember>(_ members: inout BodyMembers<Member>) {
        func member(_ name: String) -> Member? {
            let member = Member(rawValue: name)
            return member.map { members.has($0) } == true ? member : nil
        }
        for (name, _) in Self.texts {
            if let member = member(name) { draftTexts[name] = members.text(member) ?? "" }
        }
        if let keys = member("jwks") {
            let object = members.object(keys).map(JSONValue.object)
            draftTexts["jwks"] = object.flatMap { try? $0.encoded() }.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        for (name, _) in Self.lists {
            if let member = member(name) { draftLists[name] = members.texts(member) ?? [] }
        }
        for (name, _) in Self.scopes {
            if let member = member(name) { draftLists[name] = Self.names(members.text(member)) }
        }
        if let scopes = member(Self.machineScope) { machineScopes = Self.names(members.text(scopes)) }
        for (name, _) in Self.policyTexts {
            if let member = member(name) { policy[name] = members.text(member) ?? "" }
        }
        for (name, _) in Self.policyFlags {
            if let member = member(name) { flags[name] = members.flag(member) ?? false }
        }
        for (name, _) in Self.flagTexts {
            if let member = member(name) { policy[name] = members.flag(member, orNull: true).map(String.init) ?? "" }
        }
        for (name, _) in Self.numbers {
            if let member = member(name) {
                policy[name] = members.integer(member, 0...99_999_999).map(String.init) ?? ""
            }
        }
        if let member = member("developer") {
            developer = .some(members.value(member, rule: "It must be a username.") { Username($0) })
        }
        if let member = member(Self.acceptedURIs) { accepted = members.texts(member) ?? [] }
        if let member = member(Self.logoImage) {
            logo = .some(
                members.value(member, rule: "It must be a PNG or JPEG file in base64.") { text in
                    Data(base64Encoded: text).map { Array($0) }
                })
        }
    }

    private static func names(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

    func write(into draft: inout ClientDraft) {
        for (name, path) in Self.texts {
            if let text = draftTexts[name] { draft[keyPath: path] = text }
        }
        if let keys = draftTexts["jwks"] { draft.keys = keys }
        for (name, path) in Self.lists + Self.scopes {
            if let list = draftLists[name] { draft[keyPath: path] = list }
        }
        draft.acceptedRedirectURIs.formUnion(accepted)
    }

    func write(into draft: inout PolicyDraft) {
        for (name, path) in Self.policyTexts + Self.flagTexts + Self.numbers {
            if let text = policy[name] { draft[keyPath: path] = text }
        }
        for (name, path) in Self.policyFlags {
            if let flag = flags[name] { draft[keyPath: path] = flag }
        }
        if let machineScopes { draft.machineScopes = machineScopes }
    }
}

/// A member of a body with a client.
protocol ClientMember: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}

/// The body with which a client is registered.
struct NewClientBody: AdministrationBody {
    struct Member: ClientMember {
        static let type = Member("application_type")
        static let id = Member("client_id")
        static let name = Member("client_name")
        static let allCases = [type, id] + ClientChange.members.map { Member($0) }

        let rawValue: String

        init(rawValue: String) { self.rawValue = rawValue }
        private init(_ name: String) { rawValue = name }
    }

    let type: ClientType
    /// The existing identifier of a client that moves here; nil for a new one.
    let id: String?
    let change: ClientChange

    init?(_ members: inout BodyMembers<Member>) {
        let types = ClientType.allCases.map(\.rawValue).joined(separator: ", ")
        let type = members.required(.type, rule: "It must be one of \(types).", ClientType.init(rawValue:))
        id = members.text(.id)
        if !members.has(.name) { members.refuse(.name, "It is required.") }
        change = ClientChange(&members)
        guard let type else { return nil }
        self.type = type
    }
}

/// The body with which the registration and the policy of a client are changed: a JSON Merge Patch (RFC 7396).
struct ChangedClientBody: AdministrationBody {
    struct Member: ClientMember {
        static let allCases = ClientChange.members.map { Member(rawValue: $0) }

        let rawValue: String
    }

    let change: ClientChange

    init?(_ members: inout BodyMembers<Member>) { change = ClientChange(&members) }
}

/// The body with which a client is suspended.
struct SuspensionBody: AdministrationBody {
    enum Member: String, CaseIterable { case reason }

    let reason: String

    init?(_ members: inout BodyMembers<Member>) {
        let reason = members.required(
            .reason, rule: "It must have 1 to \(ClientSuspension.reasonLimit) visible characters on one line."
        ) { ClientSuspension.reason($0) }
        guard let reason else { return nil }
        self.reason = reason
    }
}
