package import CounterfoilProtocol

/// The reason why the body of a request is not a readable form.
package enum UnreadableForm: Error, Localized, Hashable, CustomStringConvertible {
    /// The content type is not that of a form (RFC 6749 appendix B).
    case otherContentType
    /// The parameters are invalid.
    case parameters(FormParameters.Refusal)
    /// The multipart body is invalid.
    case upload(MultipartForm.Refusal)

    /// An explanation in English, for programs and for the log.
    package var description: String {
        switch self {
        case .otherContentType: "the body must be application/x-www-form-urlencoded in UTF-8"
        case .parameters(let refusal): "\(refusal)"
        case .upload(let refusal): "\(refusal)"
        }
    }

    /// An explanation for a page.
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
    /// An explanation for a page; the parameter name in it belongs to the protocol or to a form of this
    /// server.
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
    /// An explanation for a page.
    var text: LocalizedText {
        switch self {
        case .parameters(let refusal): refusal.text
        case .clientIDMissing: LocalizedText("request.client-id-missing")
        case .clientIDMalformed: LocalizedText("request.client-id-malformed")
        }
    }
}

extension IncomingRequest {
    /// Reads the form in the body.
    func readForm(
        byteLimit: Int = FormParameters.defaultByteLimit, pairLimit: Int = FormParameters.pairLimit
    ) throws(UnreadableForm) -> FormParameters {
        guard hasFormBody else { throw .otherContentType }
        do {
            return try FormParameters(parsing: body, byteLimit: byteLimit, pairLimit: pairLimit)
        } catch { throw .parameters(error) }
    }
}
