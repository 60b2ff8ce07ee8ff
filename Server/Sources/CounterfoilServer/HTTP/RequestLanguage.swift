@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
import HTTPTypes

extension IncomingRequest {
    /// The language of the response, chosen from `ui_locales`, or else from `Accept-Language`, or else English.
    ///
    /// `ui_locales` is a parameter of an authorization request (OpenID Connect Core §3.1.2.1). It is read from the
    /// query, from the form in the body, or from the authorization request in the form field `request`.
    package var language: Language {
        Language.negotiate(
            uiLocales: uiLocales,
            acceptLanguage: head.headerFields[.acceptLanguage]
        )
    }

    /// The translator into ``language``; each access parses the request again, so read it only once for a response.
    package var words: Localizer { Localizer(language) }

    private var uiLocales: String? {
        if let asked = Self.uiLocales(in: try? FormParameters(parsing: query)) { return asked }
        guard head.method == .post, hasFormBody,
            let form = try? FormParameters(parsing: body, byteLimit: Endpoint.consent.bodyLimit)
        else { return nil }
        if let asked = Self.uiLocales(in: form) { return asked }
        guard let pendingRequest = try? form.single("request") else { return nil }
        return Self.uiLocales(in: try? FormParameters(parsing: pendingRequest))
    }

    private static func uiLocales(in form: FormParameters?) -> String? {
        guard let asked = try? form?.single("ui_locales"), !asked.isEmpty else { return nil }
        return asked
    }
}
