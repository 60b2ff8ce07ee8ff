import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServerTesting

extension PolicyPage {
    /// Returns the form as a browser sends it, with the standard policy unless `changes` replace something.
    func form(_ changes: KeyValuePairs<String, String> = [:]) -> FormParameters {
        FormParameters([
            "ticket": ticket, "revision": String(revision), "pkce": "s256", "refresh_tokens": "offline-access",
            "web_views": "block", "id_token_signed_response_alg": "ES256", "subject_type": "public",
        ]).setting(changes)
    }
}

extension UnregisteredPolicyPage {
    /// Returns the form as a browser sends it, with a policy for both kinds unless `changes` replace something.
    func form(_ changes: KeyValuePairs<String, String> = [:]) -> FormParameters {
        FormParameters([
            "ticket": ticket, "revision": String(revision), "kinds": "both", "approvers": "everyone",
            "scope_limit": "listed", "resource_limit": "every", "refresh_tokens": "offline-access",
        ]).setting(changes)
    }
}

extension FormParameters {
    fileprivate func setting(_ changes: KeyValuePairs<String, String>) -> FormParameters {
        changes.reduce(self) { form, change in form.setting(change.key, to: change.value) }
    }
}
