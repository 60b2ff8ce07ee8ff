import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Logging

/// The steps that the authorization endpoint and its pages share, from the parameters of a request to its approval.
struct AuthorizationFlow: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let directory: ClientDirectory
    let hints: IDTokenHints
    let random: RandomBytes
    let logger: Logger
    let auditor: Auditor
    let approvals: ApprovalThrottle
    let audiences: AudienceParameterLog

    /// Parses an authorization request that a browser brings, and verifies its client and redirect URI.
    ///
    /// - Throws: ``ResponseTargetError``, which is shown on a page.
    func receive(
        _ form: FormParameters, in request: IncomingRequest, now: Date
    ) async throws -> VerifiedResponseTarget {
        let parsed = try await parse(form, now: now)
        return try AuthorizationValidation.target(
            of: parsed, client: try await client(of: parsed, in: request, now: now), settings: settings)
    }

    /// Parses an authorization request that a page has carried in a hidden field, and verifies its client and redirect
    /// URI again.
    ///
    /// The request was valid when the page was shown, but the client can have changed since.
    ///
    /// - Parameter shown: The snapshot of the question on the page; nil for the sign-in page, which asks none.
    /// - Throws: ``ApprovalError`` if the client was deleted, if its redirect URI is no longer valid, or if the
    ///   question on the page is about an earlier revision of the client.
    func receiveAgain(
        _ form: FormParameters, in request: IncomingRequest, shown: ConsentSnapshot? = nil, now: Date
    ) async throws -> VerifiedResponseTarget {
        let parsed = try await parse(form, now: now)
        guard let client = try await client(of: parsed, in: request, now: now) else {
            throw ClientRequestError(ApprovalError.clientDeleted, clientID: parsed.target.clientID)
        }
        guard shown?.isAbout(client) ?? true,
            let target = try? AuthorizationValidation.target(of: parsed, client: client, settings: settings)
        else {
            let again = settings.issuer.authorizationURL(pendingRequest: parsed.pendingRequest)
            throw ClientRequestError(ApprovalError.clientChanged(askAgain: again), clientID: client.id)
        }
        return target
    }

    /// Parses the authorization request that a browser brings or a page has carried.
    ///
    /// With the `request_uri` of a pushed request, the parameters are those that the client pushed. All parameters
    /// beside `client_id` and `request_uri` are then ignored (RFC 9126 §4, RFC 9101 §5).
    private func parse(_ form: FormParameters, now: Date) async throws -> ParsedAuthorizationRequest {
        guard let text = try? form.single("request_uri"), text.hasPrefix(PushedRequestURI.prefix) else {
            return try ParsedAuthorizationRequest(form)
        }
        let target: AuthorizationRequest.ResponseTarget
        do {
            target = try AuthorizationRequest.ResponseTarget(
                parsing: FormParameters(form.pairs.filter { $0.name == "client_id" }))
        } catch { throw ResponseTargetError.target(error) }
        // RFC 9126 §2.2: the request is bound to the client, so another client_id finds none.
        guard let uri = PushedRequestURI(text),
            let request = try await store.openPushedRequest(
                ArtefactDigest(of: uri), of: target.clientID, at: now, until: settings.pageEnd(from: now))
        else { throw ResponseTargetError.pushedRequest(of: target.clientID) }
        return try ParsedAuthorizationRequest(request, at: uri)
    }

    private func client(
        of parsed: ParsedAuthorizationRequest, in request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient? {
        let id = parsed.target.clientID
        let client: RegisteredClient?
        do {
            client = try await directory.beginning(
                id, at: try await registry.atArrival(), by: request, now: now)
        } catch let refusal as ClientDocumentRefusal {
            throw ResponseTargetError.clientDocument(refusal, id)
        }
        do { try client?.checkStanding(on: .beginning) } catch { throw ClientRequestError(error, clientID: id) }
        return client
    }

    /// Checks all parameters of a request but the client and the redirect URI, which are verified.
    func validate(_ target: VerifiedResponseTarget, now: Date) async throws -> ValidatedAuthorization {
        audiences.note(target.parsed.audience, of: target.client.id, at: .authorization, now: now)
        try AuthorizationValidation.checkPushed(target, settings: settings)
        return try await judge(target, now: now)
    }

    /// Applies the rules that a pushed request and one by query must satisfy (RFC 9126 §2.1).
    func judge(_ target: VerifiedResponseTarget, now: Date) async throws -> ValidatedAuthorization {
        let checked = try AuthorizationValidation.validate(target, hints: hints, signUp: settings.signUp, now: now)
        let (client, registry) = (target.client, try await registry.fresh())
        let valid = try AuthorizationValidation.narrow(
            checked,
            to: try await registry.apis(
                named: checked.request.resources, orOf: checked.scope.intersection(client.scope), of: client, settings),
            approvers: try await registry.approvers(of: client, settings),
            releasing: try await registry.scopeClaims())
        try await registry.checkAPIs(valid.named, for: valid.scope, of: client, settings)
        return valid
    }

    /// Returns the request of an exchange in a form that fits into a cookie: a long one is stored, as if it was pushed.
    ///
    /// Everyone can open any number of authorization requests, so the limits are those of clients that do not
    /// authenticate.
    func shortRequest(of exchange: AuthorizationExchange) async throws -> String {
        guard exchange.pendingRequest.utf8.count > ExternalSignInQuestion.requestLimit,
            exchange.authorization.target.parsed.pushed == nil
        else { return exchange.pendingRequest }
        let (uri, client) = (PushedRequestURI(random: random), exchange.client)
        let pushed = PushedRequest(
            digest: ArtefactDigest(of: uri), clientID: client.id, parameters: exchange.pendingRequest,
            source: exchange.request.countedSource(settings.issuer)?.name, pushedAt: exchange.now,
            expiresAt: settings.pageEnd(from: exchange.now))
        switch try await store.addPushedRequest(pushed, within: PushedRequestLimits(ofClient: 5000, fromSource: 500)) {
        case .added: return FormParameters(["client_id": client.id.rawValue, "request_uri": uri.rawValue]).encoded
        case .clientDeleted: throw ApprovalError.clientDeleted
        case .tooMany:
            await auditor.refuse(
                .throttled, because: .throttledClient, exchange.request, client: client.id,
                detail: "long authorization requests", now: exchange.now)
            throw OAuthError(.temporarilyUnavailable, "too many long authorization requests; try again later")
        }
    }

    /// Decides the next step; reads the remembered consent only if the step depends on it.
    func next(
        for exchange: AuthorizationExchange, session: LiveSession?, signedInForThis: Bool
    ) async throws -> InteractionPolicy.Step {
        let authorization = exchange.authorization
        let sufficient = InteractionPolicy.sufficient(
            session, for: authorization.request, signedInForThis: signedInForThis, now: exchange.now)
        let session = isMeant(sufficient?.user, by: authorization) ? sufficient : nil
        if session == nil, sufficient != nil, signedInForThis {
            // OpenID Connect Core §3.1.2.1: the user has just signed in, but is not the user whom the request
            // requires.
            return .refuse(
                OAuthError(.loginRequired, "the signed-in user does not match id_token_hint or the sub claim"))
        }
        var means = InteractionPolicy.Means()
        let asked = AskedContexts(of: authorization.request, by: authorization.client)
        if let session, InteractionPolicy.weighsMeans(of: session, for: asked) {
            means = try await InteractionPolicy.Means(of: session, in: store, settings)
        }
        var earlier: Consent?
        if let session, InteractionPolicy.weighsConsent(for: authorization) {
            earlier = try await store.consent(of: session.user.id, to: authorization.client.id)
        }
        return InteractionPolicy.next(
            for: authorization, session: session, signedInForThis: signedInForThis, means: means,
            terms: session.flatMap { settings.unacceptedTerms(of: $0.user) }, earlier: earlier,
            approvers: authorization.approvers)
    }

    /// Returns true if the request accepts a user: neither `id_token_hint` nor a `sub` in `claims` names
    /// another user (OpenID Connect Core §5.5.1).
    ///
    /// A hint whose signing key was deleted identifies no user, so it is ignored. With `prompt=none`, where the
    /// user cannot be asked, a request with such a hint accepts no user.
    private func isMeant(_ user: User?, by authorization: ValidatedAuthorization) -> Bool {
        if let user, let meant = authorization.request.claims?.requiredSubjects {
            let subject = Array(hints.subjects.subject(for: user.id, client: authorization.client).utf8)
            guard meant.contains(where: { Array($0.utf8) == subject }) else { return false }
        }
        return switch authorization.hinted {
        case nil: true
        case .unknownUser: !authorization.request.prompt.contains(.none)
        case .user(let hint): user.map { hints.mean(hint, $0, at: authorization.client) } ?? true
        }
    }
}
