@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The rules for replacing the registration of a client (RFC 7592 §2.2).
struct RegistrationReplacement: Sendable {
    typealias Refusal = ClientMetadata.Refusal

    let former: RegisteredClient
    let registered: DynamicRegistration
    /// The setting for new clients, which applies to a client that loses its approval.
    let unapproved: NewClientApproval

    /// The members that only the server sets.
    private static let serverMembers = [
        "registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at",
    ]

    /// Checks the members that identify the client and its secret.
    static func check(
        _ request: RegistrationRequest, of client: RegisteredClient, secrets: [ClientSecretRecord]
    ) throws(Refusal) {
        if let name = serverMembers.first(where: { request.members[$0] != nil }) {
            throw Refusal("a change must not contain \(name), which only the server sets")
        }
        guard case .string(let id)? = request.members["client_id"], id == client.id.rawValue else {
            throw Refusal("client_id must be that of the registration")
        }
        guard let secret = try request.members.string("client_secret") else { return }
        let digest = ClientSecret(secret).map { ArtefactDigest(of: $0) }
        let isOwn = secrets.reduce(false) { found, record in
            let equal = digest.map { ConstantTime.equals(record.digest.bytes, $0.bytes) } ?? false
            return found || equal
        }
        guard isOwn else { throw Refusal("a client cannot choose its client_secret; omit it") }
    }

    /// Returns the client with its new registration.
    ///
    /// It keeps its identifier, its logo, and what an administrator decided, as far as that still applies
    /// (`RegisteredClient.settled(after:byAdministrator:unapproved:)`).
    func client(
        replacedBy registration: CheckedRegistration, _ source: DynamicRegistration, now: Date
    ) throws(Refusal) -> RegisteredClient {
        let asked = registration.client
        guard asked.type == former.type, (asked.keys == nil) == (former.keys == nil),
            registration.usesSecret == registered.usesSecret
        else {
            throw Refusal(
                "the change makes the client one of another type, or one that authenticates in another way; "
                    + "register a new client")
        }
        var client = former
        client.source = .registration(source)
        client.presentation = asked.presentation
        client.presentation.logo = former.presentation.logo
        client.redirectURIs = asked.redirectURIs
        client.scope = asked.scope
        client.origins = asked.origins
        client.postLogoutRedirectURIs = asked.postLogoutRedirectURIs
        client.backchannelLogoutURI = asked.backchannelLogoutURI
        client.keys = asked.keys
        client.keysURI = asked.keysURI
        client.changedAt = now
        try changePolicy(of: &client, to: registration)
        return client.settled(after: former, byAdministrator: false, unapproved: unapproved)
    }

    /// Changes the settings whose member has changed; an administrator may have changed the others.
    private func changePolicy(
        of client: inout RegisteredClient, to registration: CheckedRegistration
    ) throws(Refusal) {
        let (before, asked) = (registered.members, registration.client.policy)
        let changed = { (name: String) in before[name] != registration.members[name] }
        if changed("require_pushed_authorization_requests") {
            client.policy.requiresPushedRequests = asked.requiresPushedRequests
        }
        if changed("dpop_bound_access_tokens") { client.policy.requiresBoundTokens = asked.requiresBoundTokens }
        if changed("id_token_signed_response_alg") { client.policy.idTokenAlgorithm = asked.idTokenAlgorithm }
        // OpenID Connect Core §12.2: a refreshed ID token has the same `sub` as before.
        guard !changed("subject_type"), former.keepsNames(as: client) else {
            throw Refusal("the change gives users other subject identifiers; register a new client")
        }
    }
}
