@_spi(Counterfoil) package import CounterfoilProtocol

package enum UnreadableForm: Error, Localized, Hashable, CustomStringConvertible {
    /// The content type is not that of a form (RFC 6749 appendix B).
    case otherContentType
    /// The form is too long, has too many parameters, is not encoded correctly, or repeats a parameter.
    case parameters(FormParameters.Refusal)
    /// The body is not a valid `multipart/form-data` form.
    case upload(MultipartForm.Refusal)

    /// An explanation in English, for `error_description` and the log.
    package var description: String {
        switch self {
        case .otherContentType: "the body must be application/x-www-form-urlencoded in UTF-8"
        case .parameters(let refusal): "\(refusal)"
        case .upload(let refusal): "\(refusal)"
        }
    }

    /// An explanation for the user, on an error page.
    package var text: LocalizedText {
        switch self {
        case .otherContentType: LocalizedText("request.other-content-type")
        case .parameters(let refusal): refusal.text
        case .upload(.tooLong(let limit)): FormParameters.Refusal.tooLong(limit: limit).text
        case .upload(.repeated(let name)): FormParameters.Refusal.repeated(name).text
        case .upload(.badText): FormParameters.Refusal.badEncoding.text
        case .upload: LocalizedText("request.bad-parts")
        }
    }
}

extension FormParameters.Refusal {
    /// An explanation for the user, on an error page.
    ///
    /// A parameter name in it always belongs to the protocol or to a form of this server, so it is never a text
    /// that the sender of the request has chosen.
    var text: LocalizedText {
        switch self {
        case .tooLong(let limit): LocalizedText("request.too-long", ["limit": .number(limit)])
        case .tooManyPairs(let limit): LocalizedText("request.too-many-parameters", ["limit": .number(limit)])
        case .badEncoding: LocalizedText("request.bad-encoding")
        case .repeated(let name): LocalizedText("request.repeated", ["name": .text(name)])
        }
    }
}

extension AuthorizationRequest.ResponseTarget.Refusal {
    /// An explanation for the user, on an error page.
    var text: LocalizedText {
        switch self {
        case .parameters(let refusal): refusal.text
        case .clientIDMissing: LocalizedText("request.client-id-missing")
        case .clientIDMalformed: LocalizedText("request.client-id-malformed")
        }
    }
}

extension IncomingRequest {
    /// Parses the body as a form of type `client/x-www-form-urlencoded` in UTF-8.
    func readForm(
        byteLimit: Int = FormParameters.defaultByteLimit, pairLimit: Int = FormParameters.pairLimit
    ) throws(UnreadableForm) -> FormParameters {
        guard hasFormBody else { throw .otherContentType }
        do {
            return try FormParameters(parsing: body, byteLimit: byteLimit, pairLimit: pairLimit)
        } catch { throw .parameters(error) }
    }
}
