import CounterfoilProtocol

/// The URI schemes without a period that redirect URIs may use, called plain schemes.
///
/// A plain scheme is not a reversed domain name, so the operator must allow each one.
enum PlainSchemes {
    /// Returns whether a text is a lowercase scheme (RFC 3986 §3.1) without a period.
    ///
    /// Returns false for schemes that browsers handle themselves.
    static func isOne(_ text: String) -> Bool {
        text.wholeMatch(of: /[a-z][a-z0-9+\-]{1,63}/) != nil && !["http", "https"].contains(text)
            && !RedirectURI.isHandledByBrowsers(scheme: text)
    }
}
