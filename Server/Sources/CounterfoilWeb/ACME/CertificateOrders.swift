package import ACMEClient
import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore
import Foundation
import HTTPListener
package import Logging
import ServiceLifecycle

/// The service that orders the certificate of the server from an authority, and renews it.
///
/// Everything is in the store. On several servers with one store, one has a lease and orders, and the others find the
/// new certificate at their next look. If a server ends during an order, another one, or its next start, begins again.
/// Whatever fails, the current certificate stays in use.
package actor CertificateOrders: Service {
    /// The certificate, as the listeners and the metrics have it.
    package nonisolated let certificate: OrderedCertificate

    private let settings: ACMESettings
    private let store: any CertificateOrderStore & StoreClock
    private let keys: StoredKeys
    private let clock: OrderClock
    private let logger: Logger
    private let connect: @Sendable () throws -> any AuthorityTransport
    private var holder: LeaseHolder { certificate.challenges.holder }

    /// The stored certificate that is in use, as far as it could be used, and what its authority knows of it.
    private var used: (stored: IssuedCertificate, identity: CertificateIdentity?)?
    /// A certificate that is in use, and that the store could not keep yet.
    private var unstored: IssuedCertificate? {
        didSet { if unstored == nil { finalized.end() } }
    }
    /// The stored certificate that cannot be used, which is reported once.
    private var refused: IssuedCertificate?
    /// The random number from which the time of the renewal is computed.
    private var draw: Double
    private var information: RenewalInformation?
    private var nextLook = Date.distantPast
    private var failures: OrderFailures
    private var readFault = LastingFault()
    private var leaseFault = LastingFault()
    /// The order that is finalized and not stored yet, for which a stop waits.
    private let finalized = FinalizedOrder()
    /// Whether a certificate was reported that was due before it was stored.
    private var isEarlyDueReported = false

    /// The time in seconds between two looks at the store.
    static let interval: TimeInterval = 5
    /// The length of the lease in seconds; a server that orders renews it after a third of it.
    static let leaseLength: TimeInterval = 30
    /// The number of times that the server tries again at once to store a new certificate.
    private static let storeAttempts = 4

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - settings: The settings of the orders.
    ///   - store: The store with the certificate.
    ///   - serverKey: The key that encrypts private keys.
    ///   - certificate: The place of the certificate, if a listener has it already.
    ///   - clock: The time and the random numbers.
    ///   - logger: The logger of the service.
    ///   - connect: The function that creates the connection to the authority; by default https.
    package init(
        _ settings: ACMESettings, store: any CertificateOrderStore & StoreClock, serverKey: ServerKey,
        certificate: OrderedCertificate? = nil, clock: OrderClock = OrderClock(), logger: Logger,
        connect: (@Sendable () throws -> any AuthorityTransport)? = nil
    ) {
        self.settings = settings
        self.store = store
        self.clock = clock
        self.logger = logger
        self.connect = connect ?? { HTTPAuthority(trusting: settings.roots, userAgent: "Counterfoil/\(Build.version)") }
        keys = StoredKeys(store: store, serverKey: serverKey)
        self.certificate = certificate ?? OrderedCertificate(answering: PendingChallenges(store))
        failures = OrderFailures(settings: settings.digest, authority: "\(settings.directory)", start: store.now())
        draw = clock.draw()
    }

    /// Orders and renews until the server stops, and until the certificate of a finalized order is stored.
    package func run() async throws {
        await finalized.runUntilStopped(logger) { await self.runUntilCancelled() }
    }

    private func runUntilCancelled() async {
        while !Task.isCancelled {
            do {
                try await runRound()
                try await clock.pause(Self.interval)
            } catch { break }
        }
    }

    /// Takes over the stored certificate, and orders another one if it is time.
    ///
    /// - Throws: `CancellationError` only.
    package func runRound() async throws {
        do throws(StoreFault) {
            try await takeOver()
            readFault.end()
        } catch {
            try Task.checkCancellation()
            // What is known stays in use.
            readFault.log("failed to read the certificate from the store", error, to: logger)
            return
        }
        await readFailures()
        await storeAgain()
        guard let due = try await dueOrder() else { return }
        try await orderInTurn(due)
    }

    /// Stores the certificate that only this server has.
    private func storeAgain() async {
        guard let unstored else { return }
        let now = store.now()
        guard (try? await store.takeOrderLease(holder, until: now + Self.leaseLength, at: now)) == true else { return }
        if (try? await store.storeCertificate(unstored, orderedWith: settings.digest, by: holder)) == true {
            self.unstored = nil
            logger.notice("stored the certificate that only this server had")
        }
        try? await store.returnOrderLease(holder)
    }

    /// Uses the certificate of the store, if it is another one than the current one and fits.
    ///
    /// A server calls it before it listens, so that the first connections have the certificate.
    package func takeOver() async throws(StoreFault) {
        await certificate.challenges.follow(store)
        guard let stored = try await store.issuedCertificate() else { return }
        if let unstored {
            // What is in the store is older, unless another server has ordered meanwhile.
            guard stored.storedAt > unstored.storedAt else { return }
            self.unstored = nil
        }
        if let former = used, former.stored.chain == stored.chain {
            used = (stored, former.identity)
            return
        }
        guard let key = await keys.key(of: stored) else {
            report(stored, reason: "its key was encrypted with another server key")
            return
        }
        let new: ServerCertificate
        do {
            new = try await ServerCertificate(
                chain: stored.chain, key: key, hosts: settings.hosts, at: clock.now(), isWhole: true)
        } catch { return report(stored, reason: "\(error)") }
        certificate.current.replace(by: new)
        use(stored)
        logger.notice(
            "using the certificate of the store",
            metadata: ["expires": "\(new.expires.ISO8601Format())", "authority": "\(stored.authority)"])
    }

    private func use(_ stored: IssuedCertificate) {
        used = (stored, CertificateIdentity(chain: stored.chain))
        refused = nil
        information = nil
        nextLook = .distantPast
        isEarlyDueReported = false
        draw = clock.draw()
    }

    /// Reports a stored certificate that cannot be used; an order replaces it unless one that fits is in use.
    private func report(_ stored: IssuedCertificate, reason: String) {
        guard refused != stored else { return }
        refused = stored
        logger.warning("cannot use the certificate of the store", metadata: ["reason": "\(reason)"])
    }

    /// An order that it is time for.
    private struct DueOrder {
        /// The identifier of the certificate that it replaces; nil for none.
        let replaced: String?
    }

    /// Returns the order that it is time for; nil if there is none.
    private func dueOrder() async throws -> DueOrder? {
        let now = clock.now()
        var replaced: String?
        // A stored certificate that does not fit, while one that fits is in use, is that of a server with other
        // settings. The two servers must not order in turns, so the one in use decides.
        if let (stored, identity) = used, let identity {
            let isOfAuthority = stored.authority == "\(settings.directory)"
            if isOfAuthority { await lookForInformation(identity, at: now) }
            let time = RenewalTime.of(validity: identity.validity, information: information, draw: draw)
            // The operator has named another authority since, and restarted the server.
            let isOfFormer = !isOfAuthority && stored.storedAt < failures.start
            guard stored.isRenewalRequested || isOfFormer || now >= time else { return nil }
            if !stored.isRenewalRequested, !isOfFormer {
                reportEarlyDue(time, stored)
                let first = RenewalTime.earliest(after: stored.storedAt, validity: identity.validity)
                // A time of the future is from before the clock was set back.
                if stored.storedAt <= store.now() + 60, store.now() < first { return nil }
            }
            if isOfAuthority { replaced = identity.identifier }
        }
        // Another server may have failed since.
        await readFailures()
        if failures.mustWait(at: store.now()) { return nil }
        return DueOrder(replaced: replaced)
    }

    /// Reports once that a certificate was due before it was stored, which would mean one order after the other.
    private func reportEarlyDue(_ time: Date, _ stored: IssuedCertificate) {
        guard time < stored.storedAt, !isEarlyDueReported else { return }
        isEarlyDueReported = true
        logger.warning(
            "the certificate was due for renewal before it was stored; check the clock of this machine",
            metadata: ["due": "\(time.ISO8601Format())", "stored": "\(stored.storedAt.ISO8601Format())"])
    }

    /// Reads the renewal information of the certificate, if it is time; a failure leaves the usual time in force.
    private func lookForInformation(_ identity: CertificateIdentity, at now: Date) async {
        guard let identifier = identity.identifier, now >= nextLook else { return }
        var retryAfter: TimeInterval?
        do {
            try await withAuthority { client in
                guard let base = try await client.directory().renewalInfo else {
                    information = nil
                    return
                }
                let url = base.hasSuffix("/") ? base + identifier : base + "/" + identifier
                let response = try await client.get(url, at: .renewalInformation)
                retryAfter = response.pause(at: now)
                guard let new = RenewalInformation(response.body) else {
                    throw ACMEError.malformed(.renewalInformation, "it has no window")
                }
                if let former = information, former != new {
                    logger.notice("the authority changed the time of the renewal", metadata: new.metadata)
                }
                information = new
            }
        } catch {
            logger.debug("failed to read the renewal information", metadata: ["error": "\(error)"])
        }
        nextLook = now + RenewalTime.nextLook(retryAfter: retryAfter)
    }

    private func withAuthority<Result>(
        _ body: (AuthorityClient) async throws -> sending Result
    ) async throws -> sending Result {
        let transport: any AuthorityTransport
        do { transport = try connect() } catch {
            throw ACMEError.unreachable(.directory, reason: LogText.of("\(error)"))
        }
        do {
            let result = try await body(AuthorityClient(settings.directory, transport: transport, clock: clock))
            await transport.close()
            return result
        } catch {
            await transport.close()
            throw error
        }
    }

    /// Orders a certificate, unless another server does.
    private func orderInTurn(_ due: DueOrder) async throws {
        let now = store.now()
        do throws(StoreFault) {
            let hasLease = try await store.takeOrderLease(holder, until: now + Self.leaseLength, at: now)
            leaseFault.end()
            guard hasLease else { return }
        } catch {
            try Task.checkCancellation()
            leaseFault.log("failed to begin an order of a certificate in the store", error, to: logger)
            return
        }
        do {
            // Another server may have ordered since.
            let former = used?.stored
            try? await takeOver()
            if used?.stored.chain != former?.chain || used?.stored.isRenewalRequested != former?.isRenewalRequested {
                try? await store.returnOrderLease(holder)
                return
            }
            try await orderWithLease(due)
        } catch is CancellationError {
            try? await store.returnOrderLease(holder)
            throw CancellationError()
        } catch let failure as OrderFailure {
            await note(failure)
        } catch {
            let failure = error as? ACMEError ?? .unreachable(.order, reason: LogText.of("\(error)"))
            await note(.authority(failure))
        }
        try? await store.returnOrderLease(holder)
    }

    private func orderWithLease(_ due: DueOrder) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.order(due) }
                group.addTask { try await self.keepLease() }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch is LeaseLost {
            logger.warning("ended the order of a certificate, because another server has begun one")
        }
    }

    /// Renews the lease until the task is cancelled.
    private func keepLease() async throws {
        while true {
            try await clock.pause(Self.leaseLength / 3)
            let now = store.now()
            // If the store fails, the order continues, and cannot store its result unless the lease still exists.
            if (try? await store.takeOrderLease(holder, until: now + Self.leaseLength, at: now)) == false {
                throw LeaseLost()
            }
        }
    }

    private func order(_ due: DueOrder) async throws {
        // If the store fails, a stop waits until a later round has stored the certificate.
        defer { if unstored == nil { finalized.end() } }
        let accountKey = try await keys.accountKey(of: settings.directory)
        let issued = try await withAuthority { client in
            try await CertificateOrder(
                settings, client: client, accountKey: accountKey, challenges: certificate.challenges, clock: clock,
                logger: logger
            ).issue(replacing: due.replaced) { [finalized] in finalized.begin() }
        }
        let new: ServerCertificate
        do {
            new = try await ServerCertificate(
                chain: issued.chain, key: issued.key, hosts: settings.hosts, at: clock.now(), isWhole: true)
        } catch { throw OrderFailure.unfit(error) }
        let sealedKey: [UInt8]
        do { sealedKey = try keys.seal(key: issued.key, of: issued.chain) } catch {
            throw ACMEError.late(.malformed(.certificate, "its key cannot be encrypted"))
        }
        let stored = IssuedCertificate(
            chain: issued.chain, sealedKey: sealedKey, authority: "\(settings.directory)", storedAt: store.now())
        let fault = try await keep(stored)
        failures.end()
        certificate.current.replace(by: new)
        use(stored)
        showFailures()
        if let fault {
            // No order helps a store that fails; the certificate is in use, and is stored at a later round.
            unstored = stored
            logger.error(
                "failed to store the certificate; only this server uses it, and tries again to store it",
                metadata: ["error": "\(fault)"])
        }
        logger.notice(
            "got a certificate from the authority",
            metadata: [
                "expires": "\(new.expires.ISO8601Format())", "authority": "\(settings.directory)",
                "hosts": "\(settings.hosts.joined(separator: " "))",
            ])
    }

    /// Stores a new certificate, also if the store fails at first; returns the last fault.
    private func keep(_ certificate: IssuedCertificate) async throws -> StoreFault? {
        var attempt = 0
        while true {
            let fault: StoreFault
            do {
                let isStored = try await store.storeCertificate(
                    certificate, orderedWith: settings.digest, by: holder)
                guard isStored else { throw LeaseLost() }
                return nil
            } catch let error as StoreFault { fault = error }
            try Task.checkCancellation()
            if attempt == Self.storeAttempts { return fault }
            try await clock.pause(pow(2, Double(attempt)))
            attempt += 1
        }
    }

    /// Counts, stores and reports a failed order.
    private func note(_ failure: OrderFailure) async {
        certificate.failures.note()
        let record = failures.record(of: failure, at: store.now(), draw: clock.draw())
        failures.note(record, isStored: (try? await store.noteFailedOrders(record)) != nil)
        showFailures()
        logger.error(
            "failed to get a certificate from the authority",
            metadata: [
                "error": "\(failure)", "authority": "\(settings.directory)",
                "hosts": "\(settings.hosts.joined(separator: " "))",
                "next-order": "\((clock.now() + record.retryAt.timeIntervalSince(record.failedAt)).ISO8601Format())",
            ])
    }

    /// Takes over the failures of the store; if it fails, those that are known count.
    private func readFailures() async {
        if let stored = try? await store.failedOrders() { failures.replace(by: stored) }
        showFailures()
    }

    /// Shows the number of failed orders in a row in the metrics.
    private func showFailures() {
        certificate.failures.show(inRow: failures.count(since: used?.stored.storedAt, at: store.now()))
    }
}
