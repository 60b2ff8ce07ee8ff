import CounterfoilProtocol
import HTTPTypes

extension IncomingRequest {
    /// The language to answer in: `ui_locales`, then `Accept-Language`, then English.
    ///
    /// The pages of an authorization carry its request along, and with it `ui_locales` (OpenID Connect Core §3.1.2.1).
    public var language: Language {
        Language.negotiate(
            uiLocales: uiLocales,
            acceptLanguage: head.headerFields[.acceptLanguage]
        )
    }

    /// The words of ``language``; ask once for each answer.
    public var words: Words { Words(language) }

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
