public import CounterfoilProtocol
public import Foundation

/// The `client_id` that the client has at each server, and the ways to obtain one at a new server.
///
///     var client = ClientIdentification()
///     client.metadataDocument = try ClientMetadataDocument("https://lightbox.example/client.json")
///     client.registration = .init(as: "Lightbox", storedIn: store)
///     let signIn = NativeSignIn(issuer: issuer, client: client, scope: scope)
///
/// The client uses the first of these that is available, in the order of the MCP authorization specification:
///
/// 1. an identifier that the server issued in advance;
/// 2. the URL of its client metadata document, if the server supports such documents;
/// 3. a dynamic registration, if the server supports it (RFC 7591).
///
/// If none of them is available, the sign-in fails with ``SignInError/noClient(_:)``. The client then needs an
/// identifier from the server's operator.
public struct ClientIdentification: Sendable {
    /// The identifiers that servers issued to the client in advance, by issuer.
    public var registered: [Issuer: ClientIdentifier] = [:]
    /// The URL of the client metadata document; nil if the publisher of the client hosts no such document.
    public var metadataDocument: ClientMetadataDocument?
    /// The settings for dynamic registration; nil if the client never registers itself.
    public var registration: SelfRegistration?

    /// The name under which the client registers itself, and the store for the registrations (RFC 7591).
    public struct SelfRegistration: Sendable {
        /// `client_name`: the name that users see on the consent page.
        public var name: String
        /// The store for the registrations; it holds one registration for each issuer.
        public var store: any ClientRegistrationStore

        /// Creates settings; `name` appears on the consent page, and `store` keeps registrations for later sign-ins.
        public init(as name: String, storedIn store: any ClientRegistrationStore) {
            self.name = name
            self.store = store
        }
    }

    /// The way in which a client obtained its identifier at a server.
    public enum Origin: Sendable, Hashable {
        /// The server issued the identifier in advance.
        case preregistered
        /// The identifier is the URL of the client metadata document.
        case metadataDocument
        /// The client registered itself during this sign-in.
        case registeredNow
        /// The client registered itself in an earlier sign-in, at this time.
        case registeredEarlier(Date)
    }

    /// Creates a client without an identifier; set at least one of the properties before a sign-in.
    public init() {}

    /// Creates a client to which the server with this issuer issued an identifier in advance.
    public init(_ clientID: ClientIdentifier, at issuer: Issuer) { registered = [issuer: clientID] }
}

struct IdentifiedClient: Sendable, Hashable {
    let id: ClientIdentifier
    let authentication: ClientAuthentication
    let origin: ClientIdentification.Origin
}

extension ClientIdentification {
    /// The maximum time to wait for another process that is registering the client at the same server.
    fileprivate static let lockTimeout = Duration.seconds(90)

    /// Returns the client's identifier and authentication at a server; registers the client first if necessary.
    ///
    /// A client secret is used only with the identifier for which it was issued. A private key is used with any
    /// identifier. This is safe, because an assertion names one server as its audience, and other servers reject it.
    func client(
        at server: AuthorizationServerConfiguration, authentication: ClientAuthentication, redirectURIs: [String],
        grantTypes: [String], scope: Scope, through transport: any HTTPTransport, at now: Date = Date()
    ) async throws(SignInError) -> IdentifiedClient {
        if let id = registered[server.issuer] {
            return IdentifiedClient(id: id, authentication: authentication, origin: .preregistered)
        }
        if let metadataDocument, server.supportsMetadataDocuments {
            // A client metadata document can contain public keys but no secret, so a client secret is not used.
            return IdentifiedClient(
                id: metadataDocument.clientID, authentication: authentication.key.map { .privateKey($0) } ?? .none,
                origin: .metadataDocument)
        }
        guard let registration, let endpoint = server.registrationEndpoint else { throw .noClient(server.issuer) }
        let request = ClientRegistrationRequest(
            name: registration.name, redirectURIs: redirectURIs, grantTypes: grantTypes, scope: scope,
            key: authentication.key)
        do {
            return try await registration.client(
                for: request, at: endpoint, of: server.issuer, through: transport, at: now)
        } catch let error as TokenStoreError {
            throw .store(error)
        } catch let error as SignInError {
            throw error
        } catch { throw .cancelled }
    }

    /// Deletes a stored registration if an error suggests that the server has deleted the client.
    ///
    /// The next sign-in then registers the client again.
    func forget(_ client: IdentifiedClient, at issuer: Issuer, after error: SignInError) async {
        guard let registration else { return }
        switch (error, client.origin) {
        case (.refused(let refusal), .registeredNow), (.refused(let refusal), .registeredEarlier):
            guard refusal.code == .invalidClient || refusal.code == .unauthorizedClient else { return }
        // A server that does not know the client shows an error page and does not redirect the browser, so the
        // sign-in times out (RFC 6749 §4.1.2.1).
        case (.timedOut, .registeredEarlier): break
        default: return
        }
        guard let kept = try? await registration.store.registration(at: issuer), kept.clientID == client.id else {
            return
        }
        try? await registration.store.removeRegistration(at: issuer)
    }
}

extension ClientIdentification.SelfRegistration {
    /// Returns the stored registration if it covers the request; if not, registers the client and stores the result.
    fileprivate func client(
        for request: ClientRegistrationRequest, at endpoint: EndpointURL, of issuer: Issuer,
        through transport: any HTTPTransport,
        at now: Date
    ) async throws -> IdentifiedClient {
        if let kept = try await kept(for: request, at: issuer, now: now) { return kept }
        let lock = try await store.registrationLock(
            at: issuer, within: ClientIdentification.lockTimeout)
        // Another process may have registered the client while this task waited for the lock.
        if let kept = try await kept(for: request, at: issuer, now: now) { return kept }
        let former = try await store.registration(at: issuer)
        let new = try await request.including(former).register(at: endpoint, of: issuer, through: transport, at: now)
        try await store.save(new)
        lock.release()
        return IdentifiedClient(id: new.clientID, authentication: new.authentication, origin: .registeredNow)
    }

    private func kept(
        for request: ClientRegistrationRequest, at issuer: Issuer, now: Date
    ) async throws(TokenStoreError) -> IdentifiedClient? {
        guard let kept = try await store.registration(at: issuer), kept.issuer == issuer, kept.fits(request, at: now)
        else {
            return nil
        }
        return IdentifiedClient(
            id: kept.clientID, authentication: kept.authentication, origin: .registeredEarlier(kept.since))
    }
}
