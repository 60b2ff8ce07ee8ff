import CounterfoilProtocol
import Foundation

/// The rate limits of sign-ins, which count failures only.
public struct SignInLimits: Sendable, Hashable {
    /// The number of failures allowed within the window for one typed name, and for one account.
    public var failuresPerPerson = 10
    /// The number of failures allowed for one source address within the window.
    public var failuresPerSource = 100
    /// The length of the sliding window, in seconds.
    public var window = 15 * 60
    /// The number of failures with one typed name after which each further attempt must wait.
    ///
    /// The first wait is one second. Each further failure doubles the wait, up to the length of the window.
    public var delayFromFailure = 5

    /// Creates the default limits.
    public init() {}
}

/// The keys under which an attempt to sign in counts: the typed name, the account and the IP address.
///
/// An attempt counts for the typed name even if no account has that name, so that the limits do not reveal
/// which names exist.
///
/// An attempt also counts for the account. An attacker who alternates between its username and its email address
/// therefore gets no additional guesses. The server does not report the limit of the account to an anonymous caller,
/// because that would reveal that two names belong to one account. An account is never locked for longer than the
/// window.
struct SignInKeys: Sendable {
    private let name: CountedKey
    private let account: CountedKey
    private let noAccount: ArtefactDigest
    private let source: CountedKey?

    /// Creates the keys of an attempt.
    ///
    /// - Parameters:
    ///   - name: The typed username or email address.
    ///   - person: The account with that name; nil if there is none.
    ///   - source: The IP address; nil if all requests have the same one, for example that of a proxy.
    ///   - keys: The key under which the digests are computed.
    ///   - limits: The limits.
    init(
        name: String, person: PersonIdentifier?, source: String?, keys: AttemptKeys, limits: SignInLimits
    ) {
        let window = TimeInterval(limits.window)
        let typed = name.lowercased()
        self.name = CountedKey(
            keys.digest(of: typed, as: .typedName),
            limit: AttemptLimit(
                failures: limits.failuresPerPerson, window: window, delayFromFailure: limits.delayFromFailure))
        // Without an account the attempt counts under a key of no use, so that it takes the same time.
        noAccount = keys.digest(of: typed, as: .noAccount)
        account = CountedKey(
            person.map { keys.digest(of: $0.rawValue, as: .account) } ?? noAccount,
            limit: AttemptLimit(failures: limits.failuresPerPerson, window: window))
        self.source = source.map {
            CountedKey(
                keys.digest(of: $0, as: .source),
                limit: AttemptLimit(failures: limits.failuresPerSource, window: window))
        }
    }

    /// An attempt of an anonymous caller, who must not learn that two names belong to the same account.
    var ofAnyone: CountedAttempt { CountedAttempt(reported, concealed: account, decoy: noAccount) }
    /// An attempt of a caller that is signed in to the account.
    var ofPerson: CountedAttempt { CountedAttempt(reported + [account]) }

    private var reported: [CountedKey] { [name] + (source.map { [$0] } ?? []) }

    /// The keys whose failures a successful sign-in deletes.
    var cleared: [ArtefactDigest] { [name.digest, account.digest] }
    /// The key from which a successful sign-in is removed, while the other failures of the IP address still count.
    var shared: [ArtefactDigest] { source.map { [$0.digest] } ?? [] }
}
