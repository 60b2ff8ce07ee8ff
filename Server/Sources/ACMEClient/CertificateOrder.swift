import Foundation
package import Logging

/// One order of a certificate, from the account to the certificate (RFC 8555 §7).
package struct CertificateOrder: Sendable {
    /// A certificate as it was issued.
    package struct Issued: Sendable {
        /// The certificate and those of its issuers, in PEM format.
        package let chain: String
        /// The private key in PEM format.
        package let key: String
    }

    private let settings: ACMESettings
    private let client: AuthorityClient
    private let key: AccountKey
    private let challenges: any ChallengePublisher
    private let clock: OrderClock
    private let logger: Logger

    /// The time in seconds after which the order is given up.
    ///
    /// An authority may need hours, for instance because a person has to agree.
    private static let patience: TimeInterval = 24 * 3600
    /// The time in seconds after which a validation is given up, unless the authority asks for more time.
    private static let validationPatience: TimeInterval = 600
    /// The number of further requests to validate a host, after which it counts as not validated.
    private static let repetitions = 3
    /// The number of times that a request after the finalization is sent, if it fails.
    private static let attempts = 8
    /// The time in seconds between two log events of an authority that delays.
    private static let reportInterval: TimeInterval = 600

    package init(
        _ settings: ACMESettings, client: AuthorityClient, accountKey: AccountKey, challenges: any ChallengePublisher,
        clock: OrderClock, logger: Logger
    ) {
        self.settings = settings
        self.client = client
        key = accountKey
        self.challenges = challenges
        self.clock = clock
        self.logger = logger
    }

    /// Orders a certificate.
    ///
    /// - Parameters:
    ///   - former: The identifier of the certificate that it replaces (RFC 9773 §5); nil for none.
    ///   - willFinalize: A function that is called before the finalization, after which only this process has the key
    ///     of the certificate.
    /// - Throws: ``ACMEError``, or `CancellationError`.
    package func issue(
        replacing former: String?, willFinalize: @Sendable () -> Void
    ) async throws -> Issued {
        let account = try await AuthorityAccount(settings: settings, client: client, key: key, logger: logger).url()
        let (url, order) = try await placed(replacing: former, account: account)
        if order.status == .pending {
            do {
                try await authorize(order, account: account)
            } catch {
                await challenges.withdraw()
                throw error
            }
            await challenges.withdraw()
        }
        let request: CertificateRequest
        do { request = try CertificateRequest(for: settings.hosts) } catch {
            throw ACMEError.malformed(.finalization, "the request cannot be made: \(error)")
        }
        let ready = try await settled(url, account: account, step: .order) { [.ready, .valid].contains($0.status) }
        willFinalize()
        try await finalize(ready, at: url, request, account: account)
        do {
            let done = try await settled(url, account: account, step: .finalization, isLate: true) {
                $0.status == .valid
            }
            guard let certificateURL = done.certificate else {
                throw ACMEError.malformed(.finalization, "the valid order has no certificate")
            }
            return try await repeating {
                let response = try await client.post(
                    [], to: certificateURL, account: account, key: key, at: .certificate,
                    accepting: "application/pem-certificate-chain")
                guard let chain = String(validating: response.body, as: UTF8.self), !chain.isEmpty else {
                    throw ACMEError.malformed(.certificate, "it is no text")
                }
                return Issued(chain: chain, key: request.key)
            }
        } catch let failure as ACMEError { throw ACMEError.late(failure) }
    }

    /// Sends the request for the certificate (RFC 8555 §7.4).
    ///
    /// If there is no response, the authority may have the request nevertheless; the order tells.
    private func finalize(
        _ ready: AuthorityOrder, at url: String, _ request: CertificateRequest, account: String
    ) async throws {
        var (order, attempt) = (ready, 1)
        while order.status == .ready {
            do {
                _ = try await client.post(
                    try AccountRequest.finalization(request.der), to: order.finalize, account: account, key: key,
                    at: .finalization)
                return
            } catch let failure as ACMEError where failure.isPassing {
                if case .limited = failure { throw failure }
                guard attempt < Self.attempts else { throw ACMEError.late(failure) }
                try await pause(before: attempt, after: failure)
                attempt += 1
            }
            do {
                order = try await repeating { try await read(url, account: account, step: .finalization) }
            } catch let failure as ACMEError { throw ACMEError.late(failure) }
        }
    }

    /// Sends a request after the finalization again while it fails, because the order would be lost otherwise.
    private func repeating<Result: Sendable>(_ request: () async throws -> Result) async throws -> Result {
        var attempt = 1
        while true {
            do { return try await request() } catch let failure as ACMEError where failure.isPassing {
                guard attempt < Self.attempts else { throw failure }
                try await pause(before: attempt, after: failure)
                attempt += 1
            }
        }
    }

    /// Waits before another attempt as long as the authority has asked, or twice as long each time.
    private func pause(before attempt: Int, after failure: ACMEError) async throws {
        logger.warning(
            "a request to the authority failed; the server sends it again", metadata: ["error": "\(failure)"])
        let own = 4 * pow(2, Double(attempt - 1))
        try await clock.pause(min(max(failure.retryAfter ?? 0, own), 3600))
    }

    /// Places the order; if the authority does not accept what it replaces, without that.
    private func placed(replacing former: String?, account: String) async throws -> (String, AuthorityOrder) {
        let directory = try await client.directory()
        func place(_ former: String?) async throws -> (String, AuthorityOrder) {
            let response = try await client.post(
                try AccountRequest.order(of: settings.hosts, replacing: former), to: directory.newOrder,
                account: account,
                key: key, at: .order)
            return (
                try response.location(from: settings.directory, step: .order), try order(in: response, step: .order)
            )
        }
        guard let former, directory.renewalInfo != nil else { return try await place(nil) }
        do { return try await place(former) } catch ACMEError.refused(_, let problem, _) {
            // RFC 9773 §5 and §7.4: another order has replaced it, or another account has ordered it.
            logger.debug("ordered without the former certificate", metadata: ["reason": "\(problem)"])
            return try await place(nil)
        }
    }

    /// Has the authority validate every host that it does not know yet (RFC 8555 §7.5).
    private func authorize(_ order: AuthorityOrder, account: String) async throws {
        var pending: [(url: String, challenge: HostAuthorization.Challenge, host: String)] = []
        for url in order.authorizations {
            let authorization = try await authorization(url, account: account).authorization
            guard settings.hosts.contains(authorization.host) else {
                throw ACMEError.malformed(
                    .authorization, "it is for \(LogText.of(authorization.host)), which was not ordered")
            }
            if authorization.status == .valid { continue }
            guard authorization.status == .pending else { throw failure(of: authorization) }
            let wanted = settings.challenge.rawValue
            guard let challenge = authorization.challenges.first(where: { $0.type == wanted }) else {
                throw ACMEError.noChallenge(
                    host: authorization.host, challenge: wanted,
                    offered: authorization.challenges.map { LogText.of($0.type) })
            }
            pending.append((url, challenge, authorization.host))
        }
        guard !pending.isEmpty else { return }
        try await challenges.publish(
            try pending.map { part in
                PublishedChallenge(
                    type: part.challenge.type, host: part.host, token: part.challenge.token,
                    keyAuthorization: try key.authorization(ofToken: part.challenge.token))
            }, lasting: Self.patience)
        try await clock.pause(challenges.delay)
        for part in pending {
            _ = try await client.post(
                AccountRequest.validation, to: part.challenge.url, account: account, key: key, at: .challenge)
        }
        for part in pending { try await validated(part.url, account: account) }
    }

    /// Waits until a host is validated.
    ///
    /// Some authorities keep a challenge pending when they could not validate it, and say why. They validate again when
    /// they are asked again.
    private func validated(_ url: String, account: String) async throws {
        var (wait, repeated) = (Wait(clock.now(), patience: Self.validationPatience), 0)
        var told: AuthorityProblem?
        while true {
            let (authorization, pause) = try await authorization(url, account: account)
            if authorization.status == .valid { return }
            guard authorization.status == .pending else { throw failure(of: authorization) }
            let challenge = authorization.challenges.first { $0.type == settings.challenge.rawValue }
            let problem = challenge?.problem
            if let problem, problem != told {
                told = problem
                logger.warning(
                    "the authority could not validate a host yet",
                    metadata: ["host": "\(LogText.of(authorization.host))", "reason": "\(problem)"])
            }
            let mustRepeat = problem != nil && challenge?.isPending == true
            if mustRepeat, repeated == Self.repetitions { throw failure(of: authorization) }
            do { try await sleep(&wait, asked: pause, step: .authorization) } catch ACMEError.delayed {
                throw problem == nil ? ACMEError.delayed(.authorization) : failure(of: authorization)
            }
            guard mustRepeat, let challenge else { continue }
            repeated += 1
            do {
                _ = try await client.post(
                    AccountRequest.validation, to: challenge.url, account: account, key: key, at: .challenge)
            } catch ACMEError.refused {
                // The challenge is not pending any more; the authorization tells its result.
            }
        }
    }

    private func authorization(
        _ url: String, account: String
    ) async throws -> (authorization: HostAuthorization, pause: TimeInterval?) {
        let response = try await client.post([], to: url, account: account, key: key, at: .authorization)
        guard let authorization = HostAuthorization(response.body, from: settings.directory) else {
            throw ACMEError.malformed(.authorization, "it is not one for a host")
        }
        return (authorization, response.pause(at: clock.now()))
    }

    private func failure(of authorization: HostAuthorization) -> ACMEError {
        let wanted = settings.challenge.rawValue
        let problem = authorization.challenges.first { $0.type == wanted }?.problem
        return .notValidated(host: LogText.of(authorization.host), challenge: wanted, problem)
    }

    /// Reads the order until a condition is true.
    private func settled(
        _ url: String, account: String, step: ACMEError.Step, isLate: Bool = false,
        until isDone: (AuthorityOrder) -> Bool
    ) async throws -> AuthorityOrder {
        var wait = Wait(clock.now(), patience: Self.patience)
        func reading() async throws -> (AuthorityOrder, TimeInterval?) {
            let response = try await client.post([], to: url, account: account, key: key, at: step)
            return (try order(in: response, step: step), response.pause(at: clock.now()))
        }
        while true {
            let (order, pause) = isLate ? try await repeating(reading) : try await reading()
            if order.status == .invalid {
                let problem = order.problem ?? AuthorityProblem(type: "the order is invalid")
                throw problem.type == "rateLimited"
                    ? ACMEError.limited(step, problem, retryAfter: nil)
                    : ACMEError.refused(step, problem, retryAfter: nil)
            }
            if isDone(order) { return order }
            try await sleep(&wait, asked: pause, step: step)
        }
    }

    private func read(_ url: String, account: String, step: ACMEError.Step) async throws -> AuthorityOrder {
        try order(in: try await client.post([], to: url, account: account, key: key, at: step), step: step)
    }

    private func order(in response: AuthorityResponse, step: ACMEError.Step) throws -> AuthorityOrder {
        guard let order = AuthorityOrder(response.body, from: settings.directory) else {
            throw ACMEError.malformed(step, "it is no order")
        }
        return order
    }

    /// The time for which a step waits.
    private struct Wait {
        let start: Date
        var reported: Date
        var rounds = 0
        var patience: TimeInterval

        init(_ now: Date, patience: TimeInterval) { (start, reported, self.patience) = (now, now, patience) }
    }

    /// Waits as long as the authority has asked, or a little longer each time.
    private func sleep(_ wait: inout Wait, asked: TimeInterval?, step: ACMEError.Step) async throws {
        let now = clock.now()
        if asked != nil { wait.patience = Self.patience }
        guard now.timeIntervalSince(wait.start) < wait.patience else { throw ACMEError.delayed(step) }
        if now.timeIntervalSince(wait.reported) >= Self.reportInterval || (asked ?? 0) >= Self.reportInterval {
            wait.reported = now
            logger.warning(
                "the authority delays the order; the server waits",
                metadata: ["authority": "\(settings.directory)", "step": "\(step.rawValue)"])
        }
        wait.rounds += 1
        let own = min(pow(1.5, Double(min(wait.rounds, 12) - 1)), 60)
        try await clock.pause(min(max(asked ?? own, 0.5), 3600))
    }
}
