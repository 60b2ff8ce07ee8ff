import CounterfoilProtocol

/// The schemes of redirect URIs without a period.
///
/// They are not reversed domain names, so the operator must allow each.
enum PlainSchemes {
    /// Returns whether a text is a lowercase scheme (RFC 3986 §3.1) without a period.
    ///
    /// Schemes that browsers handle themselves are excluded.
    static func isOne(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z][a-z0-9+\-]{1,63}/) != nil && !["http", "https"].contains(text)
            && !RedirectURI.isHandledByBrowsers(scheme: text)
    }
}
