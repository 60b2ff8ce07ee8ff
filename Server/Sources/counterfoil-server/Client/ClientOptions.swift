import ArgumentParser
import CounterfoilServer

/// The options of `app create` and `app edit`, except the name.
///
/// An option with an empty value clears the setting, and a list replaces the existing list. The options are not
/// validated here: `ClientRules` validates the drafts that the options are written into.
struct ClientOptions: ParsableArguments {
    @OptionGroup(title: "Consent page") var presentation: ClientPresentationOptions
    @OptionGroup(title: "Requests") var requests: ClientRequestOptions
    @OptionGroup(title: "Tokens") var tokens: ClientTokenOptions
    @OptionGroup(title: "Policy") var policy: ClientPolicyOptions

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
