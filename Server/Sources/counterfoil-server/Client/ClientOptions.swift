import CounterfoilServer

/// The options of `app create` and `app edit`, except the name.
///
/// An option with an empty value clears the setting, and a list replaces the existing list. The options are not
/// validated here: `ClientRules` validates the drafts that the options are written into.
///
/// It is no group of options itself, because ArgumentParser would then check the groups in it five times as often (see
/// ``ServeCommand``).
struct ClientOptions {
    let presentation: ClientPresentationOptions
    let requests: ClientRequestOptions
    let tokens: ClientTokenOptions
    let policy: ClientPolicyOptions

    /// Whether any option changes the policy of the client.
    var hasPolicyChanges: Bool { tokens.hasChanges || policy.hasChanges }

    /// Whether any option is given.
    var hasChanges: Bool { presentation.hasChanges || requests.hasChanges || hasPolicyChanges }

    func write(into draft: inout ClientDraft) throws {
        try presentation.write(into: &draft)
        try requests.write(into: &draft)
    }

    func write(into draft: inout PolicyDraft) {
        tokens.write(into: &draft)
        policy.write(into: &draft)
    }
}
