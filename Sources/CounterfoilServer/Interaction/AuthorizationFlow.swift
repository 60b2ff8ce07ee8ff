import CounterfoilProtocol
import Foundation

/// What the authorization endpoint and its pages share: receiving a request, and answering it.
struct AuthorizationFlow: Sendable {
    let settings: ServerSettings
    let store: any AuthorizationServerStore
    let random: RandomBytes

    /// A request whose application can be answered, and is refused.
    struct Refused: Error {
        let error: OAuthError
        let redirectURI: RedirectURI
        let state: State?
        let client: RegisteredClient

        /// The URL that tells the application (RFC 6749 §4.1.2.1).
        func url(issuer: Issuer) -> String {
            AuthorizationResponse(.error(error), state: state, issuer: issuer).url(to: redirectURI)
        }
    }

    /// Why an approval gave nothing, for a page.
    enum NotApproved: Error {
        case alreadyAnswered
        case clientGone
        case personGone
    }

    /// Receives a request, from whichever page it comes: everything is read and judged anew each time.
    ///
    /// Throws ``UnansweredRequest`` where only a page can answer, and ``Refused`` where the application can be told.
    func receive(_ form: FormParameters) async throws -> ValidatedAuthorization {
        let addressee: AuthorizationRequest.Addressee
        do { addressee = try .init(parsing: form) } catch { throw UnansweredRequest.addressee(error) }
        let verified = try AuthorizationValidation.addressee(
            of: addressee,
            client: try await store.client(addressee.clientID),
            form: form,
            issuer: settings.issuer
        )
        do {
            return try AuthorizationValidation.validate(form, for: verified)
        } catch {
            throw Refused(
                error: error,
                redirectURI: verified.redirectURI,
                state: AuthorizationRequest.returnableState(in: form),
                client: verified.client
            )
        }
    }

    /// Refuses a request that was received.
    func refusal(_ error: OAuthError, of authorization: ValidatedAuthorization) -> Refused {
        Refused(
            error: error,
            redirectURI: authorization.redirectURI,
            state: authorization.request.state,
            client: authorization.client
        )
    }

    /// Records what the person allowed and makes the code for it; the URL that carries the code to the application.
    func approve(
        _ authorization: ValidatedAuthorization,
        by session: LiveSession,
        interaction: InteractionIdentifier,
        now: Date
    ) async throws -> String {
        let code = AuthorizationCode(random: random)
        let grant = Grant(
            id: GrantIdentifier(random: random),
            personID: session.person.id,
            clientID: authorization.client.id,
            scope: authorization.scope,
            createdAt: now,
            lastUsedAt: now
        )
        let record = CodeRecord(
            digest: ArtefactDigest(of: code),
            interaction: ArtefactDigest(of: interaction),
            grantID: grant.id,
            redirectURI: authorization.redirectURI,
            redirectURIWasGiven: authorization.request.redirectURI != nil,
            codeChallenge: authorization.request.codeChallenge,
            nonce: authorization.request.nonce,
            authenticatedAt: session.authenticatedAt,
            issuedAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(settings.codeLifetime))
        )
        let approval = Approval(
            grant: grant,
            code: record,
            asked: authorization.scope,
            appearance: ClientAppearance(of: authorization.client),
            clientRevision: authorization.client.revision,
            pkce: .s256
        )
        switch try await store.recordConsent(approval) {
        case .recorded: break
        case .clientChanged: throw NotApproved.clientGone
        case .alreadyAnswered: throw NotApproved.alreadyAnswered
        case .clientGone: throw NotApproved.clientGone
        case .personGone: throw NotApproved.personGone
        }
        return AuthorizationResponse(.code(code), state: authorization.request.state, issuer: settings.issuer)
            .url(to: authorization.redirectURI)
    }
}
