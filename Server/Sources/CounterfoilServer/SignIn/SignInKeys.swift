import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The keys under which an attempt to sign in counts: the typed name, the account and the source.
///
/// An attempt counts for the typed name even if no account has that name, so that the limits do not reveal
/// which names exist.
///
/// An attempt also counts for the account. An attacker who alternates between its username and its email address
/// therefore gets no additional guesses. The server does not report the limit of the account to an anonymous caller,
/// because that would reveal that two names belong to one account.
///
/// The guesses of others therefore lock the user out, too, until they stop. There are two exceptions, each with the
/// same limit:
///
/// - The attempts in a browser in which the user has signed in before count under a key of its own instead.
/// - The attempts in a network from which the user has signed in before count for the name and the account in this
///   network, and for the network itself. They also count for the account in all these networks, with twice the limit:
///   an attacker in all of them gets no more, and an attacker in one of them locks the user out of no other.
struct SignInKeys: Sendable {
    private let name: CountedKey
    private let account: CountedKey
    private let accountInEarlierNetworks: CountedKey?
    private let noAccount: ArtefactDigest
    private let sources: [CountedKey]
    private let browser: CountedKey?

    /// Creates the keys of an attempt.
    ///
    /// - Parameters:
    ///   - name: The typed username or email address.
    ///   - user: The account with that name; nil if there is none.
    ///   - source: The source; nil if all requests have the same one, for example that of a proxy.
    ///   - browser: The browser of the attempt, if the user has signed in there before.
    ///   - isKnownNetwork: Whether the user has signed in before from the narrowest network of the source.
    ///   - keys: The key under which the digests are computed.
    ///   - limits: The limits.
    init(
        name: String, user: UserIdentifier?, source: CountedSource?, browser: EarlierSignIns.Browser?,
        isKnownNetwork: Bool, keys: AttemptKeys, limits: SignInLimits
    ) {
        let window = TimeInterval(limits.window)
        let typed = name.lowercased()
        let network = isKnownNetwork ? source?.networks.first : nil
        let delayed = AttemptLimit(
            failures: limits.failuresPerUser, window: window, delayFromFailure: limits.delayFromFailure)
        self.name = CountedKey(keys.digest(of: typed, in: network, as: .typedName), limit: delayed)
        self.browser = browser.map { CountedKey(keys.digest(of: $0.mark, as: .earlierSignIn), limit: delayed) }
        // Without an account the attempt counts under a key of no use, so that it takes the same time.
        noAccount = keys.digest(of: typed, as: .noAccount)
        account = CountedKey(
            user.map { keys.digest(of: $0.rawValue, in: network, as: .account) } ?? noAccount,
            limit: AttemptLimit(failures: limits.failuresPerUser, window: window))
        accountInEarlierNetworks = (network == nil ? nil : user).map { user in
            CountedKey(
                keys.digest(of: user.rawValue, as: .accountInEarlierNetworks),
                limit: AttemptLimit(failures: 2 * limits.failuresPerUser, window: window))
        }
        // The wider networks of a known one can contain an attacker.
        sources = (network.map { [$0] } ?? source?.networks ?? []).map { network in
            CountedKey(
                keys.digest(of: network.name, as: .source),
                limit: AttemptLimit(failures: network.limit(limits.failuresPerSource), window: window))
        }
    }

    /// An attempt of an anonymous caller, who must not learn that two names belong to the same account.
    var ofAnyone: CountedAttempt {
        browser.map { CountedAttempt([$0]) } ?? CountedAttempt(reported, concealed: ofAccount, decoy: noAccount)
    }
    /// An attempt of a caller that is signed in to the account.
    var ofUser: CountedAttempt { CountedAttempt(browser.map { [$0] } ?? reported + ofAccount) }

    private var reported: [CountedKey] { [name] + sources }
    private var ofAccount: [CountedKey] { [account] + [accountInEarlierNetworks].compactMap(\.self) }

    /// Returns true if a digest is that of the source, and not of the name or the account.
    func isOfSource(_ digest: ArtefactDigest) -> Bool { sources.contains { $0.digest == digest } }

    /// The keys whose failures a successful sign-in deletes.
    var cleared: [ArtefactDigest] { browser.map { [$0.digest] } ?? [name.digest, account.digest] }
    /// The keys from which a successful sign-in is removed, while the other failures of the source and of the other
    /// networks still count.
    var shared: [ArtefactDigest] {
        browser == nil ? (sources + [accountInEarlierNetworks].compactMap(\.self)).map(\.digest) : []
    }
}
