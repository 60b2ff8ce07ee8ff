#if Hummingbird
    import CounterfoilResource
    import HTTPTypes
    import Hummingbird

    /// An error of a handler whose response also contains the nonce for the next proof (RFC 9449 §8.2).
    @available(macOS 14, iOS 17, *)
    struct ErrorWithNonce: HTTPResponseError, CustomStringConvertible {
        let error: any HTTPResponseError
        let nonce: String

        /// Returns the error with the nonce in its response.
        ///
        /// An `HTTPError` keeps its type, so that other middlewares can catch it as one. Of any other error, a
        /// middleware outside this one sees the response and the description, and not the type: it can catch those
        /// inside.
        static func supplying(_ nonce: String, with error: any HTTPResponseError) -> any HTTPResponseError {
            guard var error = error as? HTTPError else { return ErrorWithNonce(error: error, nonce: nonce) }
            error.headers.supply(nonce: nonce)
            return error
        }

        var status: HTTPResponse.Status { error.status }

        var description: String { "\(error)" }

        func response(from request: Request, context: some RequestContext) throws -> Response {
            var response = try error.response(from: request, context: context)
            response.headers.supply(nonce: nonce)
            return response
        }
    }

    @available(macOS 14, iOS 17, *)
    extension HTTPFields {
        /// Sets `DPoP-Nonce`, and lets scripts read it if the API allows their origin (Fetch §3.2).
        mutating func supply(nonce: String) {
            guard let name = HTTPField.Name.dpopNonce else { return }
            self[name] = nonce
            guard !self[values: .accessControlExposeHeaders].contains(name.rawName) else { return }
            append(HTTPField(name: .accessControlExposeHeaders, value: name.rawName))
        }
    }
#endif
