import HTTPTypes
import Hummingbird

/// The errors of the API except refused access, for which `AccessRefusal` is thrown.
enum PhotoError: Error {
    case notFound
    case badDraft
    case tooLarge
    case albumIsFull
}

extension PhotoError: HTTPResponseError {
    private struct Body: ResponseEncodable {
        let error: String
        let error_description: String
    }

    var status: HTTPResponse.Status {
        switch self {
        case .notFound: .notFound
        case .badDraft: .badRequest
        case .tooLarge: .contentTooLarge
        case .albumIsFull: .conflict
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try body.response(from: request, context: context)
        response.status = status
        return response
    }

    private var body: Body {
        switch self {
        case .notFound:
            Body(error: "not_found", error_description: "the photo does not exist")
        case .badDraft:
            Body(
                error: "invalid_photo",
                error_description: "send JSON such as {\"title\": \"Harbour at dawn\"}, with 1 to 200 characters")
        case .tooLarge:
            Body(error: "too_large", error_description: "the body is larger than 4096 bytes")
        case .albumIsFull:
            Body(error: "album_full", error_description: "an album holds at most \(Albums.photoLimit) photos")
        }
    }
}
