import ACMEClient
@_spi(Counterfoil) import CounterfoilProtocol
package import HTTPListener

/// The certificate that a server orders from an authority: what its listeners, its orders and its metrics share.
package struct OrderedCertificate: Sendable {
    /// The place of the certificate, for the listener.
    package let current: CurrentCertificate
    /// The challenges that the listeners answer.
    package let challenges: PendingChallenges
    /// The numbers of failed orders, for the metrics.
    package let failures = OrderFailureCounts()

    /// Creates the place of a certificate that is not there yet.
    package init(answering challenges: PendingChallenges = PendingChallenges()) {
        self.challenges = challenges
        current = CurrentCertificate(
            answering: TLSValidation(
                applicationProtocol: ChallengeCertificate.applicationProtocol,
                provisionalName: "counterfoil-server waits for its certificate"
            ) { await challenges.context(for: $0) })
    }
}

/// The numbers of orders of a certificate that have failed.
package final class OrderFailureCounts: Sendable {
    /// The values that the metrics show.
    struct Snapshot: Sendable {
        /// The number of orders of this server that have failed.
        var total = 0
        /// The number of orders on any server that have failed since the last one that succeeded.
        var inRow = 0
    }

    private let state = Mutex(Snapshot())

    var snapshot: Snapshot { state.withLock { $0 } }

    func note() { state.withLock { $0.total += 1 } }

    func show(inRow count: Int) { state.withLock { $0.inRow = count } }
}
