import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// The options of `app create` and `app edit`, except the name and the developer.
///
/// An option with an empty value clears the setting, and a list replaces the existing list. The server checks the
/// values, except those of another type than the members of the body.
///
/// It is no group of options itself, because ArgumentParser would then check the groups in it five times as often (see
/// ``ServeCommand``).
struct ClientOptions {
    let presentation: ClientPresentationOptions
    let requests: ClientRequestOptions
    let tokens: ClientTokenOptions
    let policy: ClientPolicyOptions

    /// The options by the members that they become.
    static let names: [String: String] = {
        var names = [
            "application_type": "--type", "client_id": "--client-id", "client_name": "--name",
            "redirect_uris": "--redirect-uri", "accepted_redirect_uris": "--legacy-redirect-uri",
            "policy_uri": "--privacy-uri", "tos_uri": "--terms-uri", "logo_image": "--logo", "origins": "--origin",
            "testers": "--tester", "apple_apps": "--ios-app", "android_apps": "--android-app",
            "post_logout_redirect_uris": "--post-logout-redirect-uri",
            "require_pushed_authorization_requests": "--require-pushed-requests",
            "dpop_bound_access_tokens": "--require-bound-tokens",
        ]
        for member in AdministrationOperation.named("createClient")?.body ?? [] where names[member] == nil {
            names[member] = "--" + member.replacing("_", with: "-")
        }
        return names
    }()

    /// Returns the members of the given options in the body of a request.
    func members(name: String?, developer: String?) throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let name { members["client_name"] = .string(name) }
        if let developer { members["developer"] = developer.isEmpty ? .null : .string(developer) }
        try presentation.write(into: &members)
        try requests.write(into: &members)
        tokens.write(into: &members)
        policy.write(into: &members)
        return members
    }
}
