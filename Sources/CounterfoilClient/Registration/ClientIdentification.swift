public import CounterfoilProtocol
public import Foundation

/// By which client identifier a server knows an application, and how it comes to one.
///
///     var client = ClientIdentification()
///     client.metadataDocument = try ClientMetadataDocument("https://lightbox.example/client.json")
///     client.registration = .init(as: "Lightbox", keptIn: store)
///     let signIn = NativeSignIn(issuer: issuer, client: client, scope: scope)
///
/// In the order of MCP's authorization: an identifier that the server gave beforehand, the address of a metadata document
/// where the server takes one, a registration of its own where the server takes that (RFC 7591). Where none of them is to be
/// had, ``SignInError/noClient(_:)`` says that somebody has to get an identifier there.
public struct ClientIdentification: Sendable {
    /// The identifiers that were given to the application beforehand, by the server that gave them.
    public var registered: [Issuer: ClientIdentifier] = [:]
    /// The document in which the application says what it is; nil when there is none.
    public var metadataDocument: ClientMetadataDocument?
    /// How the application registers itself; nil never does.
    public var registration: SelfRegistration?

    /// How an application registers itself at servers that it has never met.
    public struct SelfRegistration: Sendable {
        /// The name that people are shown when they are asked.
        public var name: String
        /// What keeps the registrations, each for the server that it came from.
        public var store: any ClientRegistrationStore

        /// Registers under a name, and keeps what that gives.
        public init(as name: String, keptIn store: any ClientRegistrationStore) {
            self.name = name
            self.store = store
        }
    }

    /// How an application came to its identifier at a server.
    public enum Origin: Sendable, Hashable {
        /// The server gave it beforehand.
        case registeredBeforehand
        /// It is the address of the application's document.
        case metadataDocument
        /// The application has registered itself just now.
        case registeredNow
        /// The application registered itself then.
        case registeredThen(Date)
    }

    /// An application that no server knows yet.
    public init() {}

    /// An application that a server has given an identifier.
    public init(_ clientID: ClientIdentifier, at issuer: Issuer) { registered = [issuer: clientID] }
}

/// An application as one server knows it.
struct IdentifiedClient: Sendable, Hashable {
    let id: ClientIdentifier
    let authentication: ClientAuthentication
    let origin: ClientIdentification.Origin
}

extension ClientIdentification {
    /// How long to wait for another process that registers at the same server.
    fileprivate static let patience = Duration.seconds(90)

    /// The application as a server knows it, registered there first when it has to be.
    ///
    /// A secret that the application has belongs to the identifier that was given with it, and goes with no other; a key of
    /// its own proves it everywhere, because no server can use what was made for another.
    func client(
        at server: AuthorizationServerConfiguration, authentication: ClientAuthentication, redirectURIs: [String],
        grantTypes: [String], scope: Scope, through transport: any HTTPTransport, at now: Date = Date()
    ) async throws(SignInError) -> IdentifiedClient {
        if let id = registered[server.issuer] {
            return IdentifiedClient(id: id, authentication: authentication, origin: .registeredBeforehand)
        }
        if let metadataDocument, server.takesMetadataDocuments {
            // The document may name keys; it cannot hold a secret.
            return IdentifiedClient(
                id: metadataDocument.clientID, authentication: authentication.key.map { .privateKey($0) } ?? .none,
                origin: .metadataDocument)
        }
        guard let registration, let endpoint = server.registrationEndpoint else { throw .noClient(server.issuer) }
        let wish = RegistrationWish(
            name: registration.name, redirectURIs: redirectURIs, grantTypes: grantTypes, scope: scope,
            key: authentication.key)
        do {
            return try await registration.client(
                for: wish, at: endpoint, of: server.issuer, through: transport, at: now)
        } catch let error as TokenStoreError {
            throw .store(error)
        } catch let error as SignInError {
            throw error
        } catch { throw .cancelled }
    }

    /// Forgets a registration that its server does not seem to know any more, so that the next sign-in registers anew.
    func forget(_ client: IdentifiedClient, at issuer: Issuer, after error: SignInError) async {
        guard let registration else { return }
        switch (error, client.origin) {
        case (.refused(let refusal), .registeredNow), (.refused(let refusal), .registeredThen):
            guard refusal.code == .invalidClient || refusal.code == .unauthorizedClient else { return }
        // A server that does not know the client shows the person a page, and sends nobody back (RFC 6749 §4.1.2.1).
        case (.timedOut, .registeredThen): break
        default: return
        }
        guard let kept = try? await registration.store.registration(at: issuer), kept.clientID == client.id else {
            return
        }
        try? await registration.store.forgetRegistration(at: issuer)
    }
}

extension ClientIdentification.SelfRegistration {
    /// What is kept for a server if it fits, otherwise a new registration, which is kept before it is used.
    fileprivate func client(
        for wish: RegistrationWish, at endpoint: EndpointURL, of issuer: Issuer, through transport: any HTTPTransport,
        at now: Date
    ) async throws -> IdentifiedClient {
        if let kept = try await kept(for: wish, at: issuer, now: now) { return kept }
        let right = try await store.exclusiveRight(
            toRegisterAt: issuer, within: ClientIdentification.patience)
        // Whoever had the right before may have registered the application already.
        if let kept = try await kept(for: wish, at: issuer, now: now) { return kept }
        let former = try await store.registration(at: issuer)
        let new = try await wish.including(former).register(at: endpoint, of: issuer, through: transport, at: now)
        try await store.keep(new)
        right.end()
        return IdentifiedClient(id: new.clientID, authentication: new.authentication, origin: .registeredNow)
    }

    private func kept(
        for wish: RegistrationWish, at issuer: Issuer, now: Date
    ) async throws(TokenStoreError) -> IdentifiedClient? {
        guard let kept = try await store.registration(at: issuer), kept.issuer == issuer, kept.fits(wish, at: now)
        else {
            return nil
        }
        return IdentifiedClient(
            id: kept.clientID, authentication: kept.authentication, origin: .registeredThen(kept.since))
    }
}
