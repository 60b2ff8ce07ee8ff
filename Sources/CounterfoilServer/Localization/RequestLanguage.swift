import CounterfoilProtocol
import HTTPTypes

extension IncomingRequest {
    /// The language of the response: that of `ui_locales`, then that of `Accept-Language`, then English.
    ///
    /// The forms of an authorization contain its request in `request`, and with it `ui_locales` (OpenID
    /// Connect Core §3.1.2.1).
    package var language: Language {
        Language.negotiate(
            uiLocales: uiLocales,
            acceptLanguage: head.headerFields[.acceptLanguage]
        )
    }

    /// The texts of ``language``; computed at each access, so read it once for each response.
    package var words: Localizer { Localizer(language) }

    private var uiLocales: String? {
        if let asked = Self.uiLocales(in: try? FormParameters(parsing: query)) { return asked }
        guard head.method == .post, hasFormBody,
            let form = try? FormParameters(parsing: body, byteLimit: Endpoint.consent.bodyLimit)
        else { return nil }
        if let asked = Self.uiLocales(in: form) { return asked }
        guard let carried = try? form.single("request") else { return nil }
        return Self.uiLocales(in: try? FormParameters(parsing: carried))
    }

    private static func uiLocales(in form: FormParameters?) -> String? {
        guard let asked = try? form?.single("ui_locales"), !asked.isEmpty else { return nil }
        return asked
    }
}
