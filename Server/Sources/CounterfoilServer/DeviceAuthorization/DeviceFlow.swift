import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The steps that the pages of the device grant share: finding the device of a code, and recording the answer.
struct DeviceFlow: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any UncachedStore
    let directory: ClientDirectory
    let guesses: UserCodeThrottle
    let approvals: ApprovalThrottle
    let auditor: Auditor
    let random: RandomBytes

    /// The result of looking up a code that a user has typed.
    enum Finding: Sendable {
        case found(DeviceExchange)
        case refused(DevicePages.Again)
    }

    /// Looks up a code that a signed-in user has typed, within the rate limits of wrong codes.
    func find(
        _ code: UserCode, for user: User, on request: IncomingRequest, now: Date
    ) async throws -> Finding {
        let source = request.countedSource(settings.issuer)
        do throws(UserCodeThrottle.TooMany) {
            try await guesses.admit(user.id, from: source, now: now)
        } catch {
            await auditor.refuse(
                .throttled, because: error.isOfUser ? .throttledUser : .throttledSource, request, user: user.id,
                detail: "user codes", now: now)
            return .refused(.tooMany(retryAfter: error.retryAfter))
        }
        let exchange: DeviceExchange?
        do { exchange = try await pending(code, on: request, now: now) } catch {
            await guesses.withdraw(user.id, from: source, admittedAt: now)
            throw error
        }
        guard let exchange else {
            await auditor.refuse(.userCode, because: .userCode, request, user: user.id, now: now)
            return .refused(.unknown)
        }
        await guesses.withdraw(user.id, from: source, admittedAt: now)
        return .found(exchange)
    }

    /// Reads the pending device authorization of a code; nil if there is none.
    ///
    /// The request was valid when the device sent it, but the client or an API can have changed since.
    func pending(_ code: UserCode, on request: IncomingRequest, now: Date) async throws -> DeviceExchange? {
        guard
            let authorization = try await store.deviceAuthorization(
                userCode: ArtefactDigest(of: code), at: now),
            let client = try await client(of: authorization, by: request, now: now)
        else { return nil }
        let registry = try await registry.fresh()
        let access = try await registry.access(
            to: authorization.scope, naming: authorization.resources, by: client, settings)
        return DeviceExchange(authorization: authorization, access: access, code: code, request: request, now: now)
    }

    /// Returns the client of a device; nil if it was deleted.
    private func client(
        of authorization: DeviceAuthorization, by request: IncomingRequest, now: Date
    ) async throws -> RegisteredClient? {
        let id = authorization.clientID
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

    /// Throws an ``ApprovalError`` if a user may not allow the client anything.
    func checkApprover(of exchange: DeviceExchange, _ user: User) async throws {
        let client = exchange.access.client
        let approvers = try await registry.fresh().approvers(of: client, settings)
        guard InteractionPolicy.mayApprove(user, approvers) else {
            throw approvers.problem(of: client.displayName)
        }
    }

    /// Returns the way in which a user confirms before the page with the permissions; nil if the sign-in suffices.
    ///
    /// Throws ``ApprovalError/needsStrongerSignIn(_:reaching:)`` if the user cannot sign in as the policy of the client
    /// asks.
    func confirmation(
        for exchange: DeviceExchange, _ session: LiveSession
    ) async throws -> InteractionPolicy.Confirmation? {
        let client = exchange.access.client
        let demanded = client.policy.minimumAuthentication
        guard session.methods.context < demanded else { return nil }
        let means = try await InteractionPolicy.Means(of: session, in: store, settings)
        guard let confirmation = means.confirmation(reaching: demanded) else {
            throw ApprovalError.needsStrongerSignIn(client.displayName, reaching: demanded)
        }
        return confirmation
    }

    /// Denies the request of a device; returns false if it was answered before or has expired.
    func deny(_ exchange: DeviceExchange, by session: LiveSession) async throws -> Bool {
        let event = auditor.event(
            .consent, because: .denied, by: exchange.request, user: session.user.id, client: exchange.access.client.id,
            detail: "device", now: exchange.now)
        let outcome = try await store.denyDevice(exchange.authorization.digest, at: exchange.now, recording: [event])
        guard outcome == .denied else { return false }
        auditor.countRecorded(event)
        return true
    }

    /// Records the approval of a user: the `device_code` becomes a code that the device redeems with its next poll.
    ///
    /// - Parameters:
    ///   - exchange: The approved request.
    ///   - granted: The scopes that the user allowed.
    ///   - session: The session of the user.
    ///   - signedInForThis: Whether the user has signed in for this request, which was counted as a sign-in.
    ///   - interaction: The identifier of the page that the user answered.
    /// - Returns: False if the request was answered before or has expired.
    /// - Throws: ``ApprovalError`` if the client, user or session has changed.
    func approve(
        _ exchange: DeviceExchange, granting granted: Scope, by session: LiveSession, signedInForThis: Bool,
        interaction: InteractionIdentifier
    ) async throws -> Bool {
        try await checkApprover(of: exchange, session.user)
        guard settings.unacceptedTerms(of: session.user) == nil else {
            throw ApprovalError.outdated(
                startAgain: settings.issuer.deviceURL(with: exchange.code), InteractionPolicy.termsUnaccepted)
        }
        let demanded = exchange.access.client.policy.minimumAuthentication
        guard demanded <= session.methods.context else {
            throw ApprovalError.needsStrongerSignIn(exchange.access.client.displayName, reaching: demanded)
        }
        try await count(exchange, by: session)
        let (access, now) = (exchange.access, exchange.now)
        let grant = Grant(
            id: GrantIdentifier(random: random), userID: session.user.id, clientID: access.client.id,
            scope: granted, resources: access.apis.map(\.resource), sessionID: session.id,
            authenticatedAt: session.authenticatedAt, methods: session.methods, device: exchange.authorization.device,
            createdAt: now, lastUsedAt: now)
        let code = CodeRecord(
            digest: exchange.authorization.digest, interaction: ArtefactDigest(of: interaction), grantID: grant.id,
            redirectURI: nil, requestedScope: exchange.authorization.scope,
            codeChallenge: exchange.authorization.codeChallenge, nonce: nil, issuedAt: now,
            // The page says that the device is connected. So the device has the time of an authorization code for the
            // next poll, also if the user answered in the last second.
            expiresAt: max(
                exchange.authorization.expiresAt, now.addingTimeInterval(TimeInterval(settings.codeLifetime))))
        let approval = Approval(
            grant: grant, code: code, asked: access.asked, consentTarget: access.consentTarget,
            appearance: ClientAppearance(of: access.client),
            clientRevision: access.client.revision, pkce: .notNeeded, passwordHash: session.user.passwordHash,
            basis: .answer, newClient: access.client.storedOnApproval,
            events: [
                auditor.signInToClient(exchange.request, under: grant, now: now),
                auditor.event(
                    .consent, by: exchange.request, user: session.user.id, client: access.client.id, grant: grant.id,
                    detail: "device: \(granted)", now: now),
            ], newClientEvent: directory.firstApprovalEvent(of: grant, by: exchange.request))
        let again = settings.issuer.deviceURL(with: exchange.code)
        let isFirst = try await directory.isFirst(approval, by: exchange.request)
        let outcome = try await RepeatedCommit.send(for: exchange.request.context) { () async throws(StoreFault) in
            try await store.recordConsent(approval)
        }
        switch outcome {
        case .recorded:
            // The event of the sign-in to this page names no client, so there is one for the client, too.
            let events = approval.events(addingClient: isFirst)
            auditor.countRecorded(signedInForThis ? events.filter { $0.kind != .signIn } : events)
            return true
        // A device authorization is never pushed.
        case .alreadyAnswered, .deviceNotPending, .pushedRequestGone: return false
        case .clientDeleted: throw ApprovalError.clientDeleted
        case .clientChanged: throw ApprovalError.clientChanged(askAgain: again)
        case .userNotActive: throw ApprovalError.userNotActive
        case .sessionEnded, .consentWithdrawn:
            throw ApprovalError.outdated(
                startAgain: again, OAuthError(.loginRequired, "the session ended while the request was processed"))
        }
    }

    /// Counts an approval against the rate limit of its user.
    private func count(_ exchange: DeviceExchange, by session: LiveSession) async throws {
        do { try approvals.note(session.user.id, now: exchange.now) } catch {
            await auditor.refuse(
                .throttled, because: .throttledUser, exchange.request, user: session.user.id,
                client: exchange.access.client.id, detail: "approvals", now: exchange.now)
            throw error
        }
    }
}
