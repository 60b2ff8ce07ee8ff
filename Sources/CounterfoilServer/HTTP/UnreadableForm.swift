package import CounterfoilProtocol

/// The reason why the body of a request is not a readable form.
package enum UnreadableForm: Error, Hashable, CustomStringConvertible {
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
    var text: LocalizedText {
        switch self {
        case .otherContentType: LocalizedText(RequestPhrase.otherContentType)
        case .parameters(let refusal): refusal.text
        case .upload(.tooLong(let limit)): FormParameters.Refusal.tooLong(limit: limit).text
        case .upload(.repeated(let name)): FormParameters.Refusal.repeated(name).text
        case .upload(.badText): FormParameters.Refusal.badEncoding.text
        case .upload: LocalizedText(RequestPhrase.badParts)
        }
    }
}

/// The texts for requests that cannot be read, and for those whose client cannot get a response.
enum RequestPhrase: String, LocalizationKey {
    // Requests that cannot be read.
    case otherContentType = "request.other-content-type"
    case tooLong = "request.too-long"
    case tooManyParameters = "request.too-many-parameters"
    case badEncoding = "request.bad-encoding"
    case repeated = "request.repeated"
    case badParts = "request.bad-parts"

    // Requests whose client cannot get a response (RFC 6749 §4.1.2.1).
    case clientIDMissing = "request.client-id-missing"
    case clientIDMalformed = "request.client-id-malformed"
    case unknownClient = "request.unknown-client"
    case signsNobodyIn = "request.signs-nobody-in"
}

extension FormParameters.Refusal {
    /// An explanation for a page; the parameter name in it belongs to the protocol or to a form of this
    /// server.
    var text: LocalizedText {
        switch self {
        case .tooLong(let limit): LocalizedText(RequestPhrase.tooLong, ["limit": .number(limit)])
        case .tooManyPairs(let limit): LocalizedText(RequestPhrase.tooManyParameters, ["limit": .number(limit)])
        case .badEncoding: LocalizedText(RequestPhrase.badEncoding)
        case .repeated(let name): LocalizedText(RequestPhrase.repeated, ["name": .text(name)])
        }
    }
}

extension AuthorizationRequest.ResponseTarget.Refusal {
    /// An explanation for a page.
    var text: LocalizedText {
        switch self {
        case .parameters(let refusal): refusal.text
        case .clientIDMissing: LocalizedText(RequestPhrase.clientIDMissing)
        case .clientIDMalformed: LocalizedText(RequestPhrase.clientIDMalformed)
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
