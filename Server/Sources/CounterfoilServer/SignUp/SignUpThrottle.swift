@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The limits of persons who create their own accounts.
struct SignUpThrottle: Sendable {
    /// The maximum number of accounts from one source within a day; those by invitations do not count.
    static let accountsPerSource = 20
    /// The maximum number of attempts without a new account by the reader of one link within an hour, such as those
    /// with a taken username.
    static let namesPerLink = 10
    /// The same for one source.
    static let namesPerSource = 50

    let attempts: AttemptCounter
    let issuer: Issuer

    /// The error after too many attempts.
    struct TooMany: Error {
        /// The time to wait, in seconds.
        let retryAfter: Int
        let cause: AuditEvent.Reason
    }

    /// An attempt to create an account, which counts until it is settled.
    struct Admission: Sendable {
        fileprivate let accounts: [CountedKey]
        fileprivate let names: [CountedKey]
        fileprivate let time: Date
    }

    /// Counts an attempt as a new account and as a taken username, until ``settle(_:as:)``.
    func admit(_ link: SignUpLink, for request: IncomingRequest, now: Date) async throws(TooMany) -> Admission {
        let digest: ArtefactDigest
        var accounts: [CountedKey] = []
        switch link {
        case .invitation(let ofLink): digest = ofLink
        case .signUp(let ofLink):
            digest = ofLink
            accounts = keys(.accountsOfSource, Self.accountsPerSource, in: 86_400, of: request)
        }
        let ofLink = CountedKey(
            attempts.keys.digest(of: Base64URL.encode(digest.bytes), as: .namesOfLink),
            limit: AttemptLimit(failures: Self.namesPerLink, window: 3600))
        let names = [ofLink] + keys(.namesOfSource, Self.namesPerSource, in: 3600, of: request)
        let verdict = await attempts.admit(CountedAttempt(names + accounts), now: now)
        if case .tooEarly(let seconds, let key) = verdict {
            throw TooMany(retryAfter: seconds, cause: key == ofLink.digest ? .throttledUser : .throttledSource)
        }
        return Admission(accounts: accounts, names: names, time: now)
    }

    /// Removes what does not count after the outcome of an attempt; nil if it failed otherwise.
    func settle(_ admission: Admission, as outcome: SignUpOutcome?) async {
        let withdrawn =
            switch outcome {
            case .added: admission.names
            case .usernameTaken, .emailTaken, .linkOver: admission.accounts
            case nil: admission.names + admission.accounts
            }
        await attempts.withdraw(withdrawn, admittedAt: admission.time)
    }

    private func keys(
        _ kind: AttemptKeys.Kind, _ limit: Int, in window: TimeInterval, of request: IncomingRequest
    ) -> [CountedKey] {
        (request.countedSource(issuer)?.networks ?? []).map { network in
            CountedKey(
                attempts.keys.digest(of: network.name, as: kind),
                limit: AttemptLimit(failures: network.limit(limit), window: window))
        }
    }
}
