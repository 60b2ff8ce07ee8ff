/// The rate limits of failed sign-ins.
public struct SignInLimits: Sendable, Hashable {
    /// The number of failures allowed within the window for one typed name, and for one account.
    public var failuresPerUser = 10
    /// The number of failures allowed for one source within the window.
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
