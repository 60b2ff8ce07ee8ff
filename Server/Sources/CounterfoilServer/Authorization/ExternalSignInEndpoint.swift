@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/sign-in/external`: the way to the page of the owner from the sign-in pages, and the response of that
/// page (`response`).
struct ExternalSignInEndpoint: Sendable {
    /// The way to the page and back; nil if the owner has no page.
    let requests: ExternalSignInRequests?
    let users: ExternalUsers
    let signIn: SignIn
    let sessions: SessionManager
    let pages: AuthorizationPages
    let store: any ClientAssertionStore
    let auditor: Auditor
    /// The path of the sign-in page for a user who opened this server directly.
    let signInPath: String

    var handlers: [EndpointHandler] { [EndpointHandler(.externalSignIn, respond)] }

    private var settings: ServerSettings { pages.settings }

    private func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        guard let requests else { throw NotFoundError() }
        guard request.head.method != .post else { return try redirectPost(request) }
        let query: FormParameters
        do { query = try FormParameters(parsing: request.query) } catch {
            throw PageProblem.unreadableForm(.parameters(error))
        }
        if let response = try? query.single("response") {
            return try await receive(response, requests, request, now: now)
        }
        guard query.all("error").isEmpty else {
            // Anyone can send this parameter, so it only leads to a page.
            await auditor.refuse(.signIn, because: .denied, request, detail: "external sign-in", now: now)
            throw ExternalSignInProblem.refused(requests.external.label, again: signInPath, signIn: ownSignIn)
        }
        return try begin(query, requests, request)
    }

    /// Returns the redirect after which the browser sends its cookies, which it leaves out of a form of another site
    /// because of `SameSite=Lax`.
    private func redirectPost(_ request: IncomingRequest) throws -> Reply {
        let form: FormParameters
        do { form = try request.readForm() } catch { throw PageProblem.unreadableForm(error) }
        var query = FormParameters()
        for name in ["response", "error"] { query.append(name, ifPresent: form.all(name).first) }
        guard !query.pairs.isEmpty else { throw PageProblem.noDecision }
        return .seeOther(settings.issuer.endpoint(Endpoint.externalSignIn.path) + "?" + query.encoded)
    }

    /// Sends the browser from a sign-in page of this server to the page of the owner.
    private func begin(
        _ query: FormParameters, _ requests: ExternalSignInRequests, _ request: IncomingRequest
    ) throws -> Reply {
        let isDevice = (try? query.single("door")) == SignInDoor.device.rawValue
        let pending = (try? query.single("request")) ?? ""
        let isKept = pending.utf8.count <= ExternalSignInQuestion.requestLimit
        var question = ExternalSignInQuestion(door: isDevice ? .device : .console, request: isKept ? pending : "")
        // A user who comes back with an older sign-in would have to sign in again for many pages.
        question.maxAge = settings.recentSignInAge
        question.languages = [request.language.rawValue]
        return try requests.redirect(question, in: request)
    }

    private func receive(
        _ text: String, _ requests: ExternalSignInRequests, _ request: IncomingRequest, now: Date
    ) async throws -> Reply {
        let page = requests.external.label
        let response: VerifiedSignInResponse
        do { response = try requests.verify(text) } catch {
            await auditor.refuse(.signIn, because: .externalSignIn, request, detail: "\(error)", now: now)
            throw ExternalSignInProblem.invalid(page, again: signInPath, signIn: ownSignIn)
        }
        guard let pending = requests.pending(response.requestID, in: request) else {
            await auditor.refuse(.signIn, because: .cookie, request, detail: "external sign-in", now: now)
            throw ExternalSignInProblem.over(again: signInPath)
        }
        let again = address(of: pending)
        try await use(pending, request, again: again, now: now)
        switch response.result {
        case .refused(let error):
            await auditor.refuse(
                .signIn, because: .denied, request, client: pending.client,
                detail: "external sign-in, \(EscapedText(error, limit: 40))", now: now)
            throw ExternalSignInProblem.refused(page, again: again, signIn: ownSignIn)
        case .signedIn(let user):
            guard let age = requests.age(of: user, for: pending) else {
                await auditor.refuse(
                    .signIn, because: .externalSignIn, request, client: pending.client,
                    detail: "\(TokenRefusal.authenticationTooOld)", now: now)
                throw ExternalSignInProblem.invalid(page, again: again, signIn: ownSignIn)
            }
            return try await beginSession(
                of: user, requests, pending, request, since: now.addingTimeInterval(-age), now: now)
        }
    }

    /// Records that a request is answered; throws if it was answered before.
    private func use(
        _ pending: PendingExternalSignIn, _ request: IncomingRequest, again: String, now: Date
    ) async throws {
        let (digest, attempt) = (ArtefactDigest(ofExternalSignIn: pending.id), CommitAttempt())
        // Longer than the cookie is accepted, by whichever clock.
        let expires = now.addingTimeInterval(TimeInterval(settings.pageLifetime) + 3600)
        let isFirst = try await RepeatedCommit.send(for: request.context) { () async throws(StoreFault) in
            try await store.noteAssertion(digest, expires: expires, attempt: attempt, now: now)
        }
        guard isFirst else {
            await auditor.refuse(
                .signIn, because: .alreadyAnswered, request, client: pending.client, detail: "external sign-in",
                now: now)
            throw ExternalSignInProblem.over(again: again)
        }
    }

    private func beginSession(
        of signedIn: VerifiedSignInResponse.SignedInUser, _ requests: ExternalSignInRequests,
        _ pending: PendingExternalSignIn, _ request: IncomingRequest, since time: Date, now: Date
    ) async throws -> Reply {
        let (external, again) = (requests.external, address(of: pending))
        guard let subject = ExternalSubject(issuer: external.issuer, subject: signedIn.subject) else {
            await auditor.refuse(
                .signIn, because: .externalSignIn, request, client: pending.client,
                detail: "\(TokenRefusal.invalidClaim("sub"))", now: now)
            throw ExternalSignInProblem.invalid(external.label, again: again, signIn: ownSignIn)
        }
        let outcome = try await users.user(
            of: subject,
            claims: ExternalClaims(texts: signedIn.texts, isEmailVerified: signedIn.isEmailVerified),
            creatingAccounts: external.users == .create, for: pending.client, in: request, now: now)
        switch outcome {
        case .refused(let cause):
            await auditor.refuse(.signIn, because: cause, of: request, client: pending.client, now: now)
            guard cause.reason != .disabled else { throw ApprovalError.userNotActive }
            throw ExternalSignInProblem.noAccount(external.label, again: again)
        case .tooEarly(let seconds, let cause):
            await auditor.refuse(.throttled, because: cause, of: request, client: pending.client, now: now)
            throw ExternalSignInProblem.tooMany(retryAfter: seconds)
        case .found(let user, let identity):
            let event = auditor.event(
                .signIn, by: request, user: user.id, client: pending.client, detail: "external sign-in", now: now)
            let authentication = ExternalAuthentication(
                context: signedIn.context.flatMap { AuthenticationContext(urn: $0) } ?? .password,
                references: signedIn.methods)
            let begun = try await sessions.begin(
                for: user, proving: .identity(identity.id, authentication), replacing: request, since: time,
                stayingSignedIn: settings.sessionPersistence == .ticked, recording: [event], now: now)
            guard case .begun(let session, let cookie) = begun else {
                await auditor.refuse(
                    .signIn, because: .accountChanged, request, user: user.id, client: pending.client,
                    detail: "external sign-in", now: now)
                throw ApprovalError.userNotActive
            }
            return next(pending, session, now: now).setting(cookie)
                .setting(await signIn.remember(session, in: request, now: now))
                .setting(requests.cookies.noExternal(pending.id))
        }
    }

    /// Returns the redirect to the page at which a signed-in user continues.
    private func next(_ pending: PendingExternalSignIn, _ session: LiveSession, now: Date) -> Reply {
        guard pending.door == .authorization else { return .seeOther(address(of: pending)) }
        return pages.afterSignIn(pending.request, session: session, within: 60, now: now)
    }

    /// Returns the URL at which the user can begin again.
    private func address(of pending: PendingExternalSignIn) -> String {
        switch pending.door {
        case .authorization: settings.issuer.authorizationURL(pendingRequest: pending.request)
        case .device: settings.issuer.endpoint(Endpoint.device.path) + "?" + pending.request
        case .console:
            pending.request.isEmpty
                ? signInPath : signInPath + "?" + FormParameters(["to": pending.request]).encoded
        }
    }

    /// The URL of the sign-in page of this server, as an error page shows it.
    private var ownSignIn: String { settings.issuer.origin + signInPath }
}

/// The errors of a sign-in at the page of the owner.
enum ExternalSignInProblem: Error {
    /// The page with this name has signed no user in.
    case refused(DisplayName, again: String, signIn: String)
    /// The response of the page does not hold.
    case invalid(DisplayName, again: String, signIn: String)
    /// The browser has not begun the sign-in, or too long ago, or the response was used before.
    case over(again: String)
    /// No account has the identity, and none is created.
    case noAccount(DisplayName, again: String)
    /// The user has signed in too often; `retryAfter` is the time to wait, in seconds.
    case tooMany(retryAfter: Int)
}

extension ExternalSignInProblem: Refusing {
    var refusal: Refusal {
        switch self {
        case .refused(let page, let again, let signIn):
            Refusal(
                .forbidden, .accessDenied, .externalSignInRefused, ["page": .name(page), "url": .text(signIn)],
                continueLink: .address(again))
        case .invalid(let page, let again, let signIn):
            Refusal(
                .badRequest, .invalidRequest, .externalSignInInvalid, ["page": .name(page), "url": .text(signIn)],
                continueLink: .address(again))
        case .over(let again):
            Refusal(.badRequest, .invalidRequest, .externalSignInOver, continueLink: .address(again))
        case .noAccount(let page, let again):
            Refusal(
                .forbidden, .accessDenied, .externalSignInUnknown, ["page": .name(page)],
                continueLink: .address(again))
        case .tooMany(let seconds):
            Refusal(
                .tooManyRequests, .temporarilyUnavailable, .tooManyApprovals, retryAfter: seconds)
        }
    }
}
