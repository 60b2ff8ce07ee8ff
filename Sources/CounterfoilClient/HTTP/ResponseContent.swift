public import CounterfoilPlatform
import CounterfoilProtocol

extension TransportResponse {
    /// The body as text in UTF-8; invalid bytes become U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the response if its status is 2xx.
    @discardableResult
    public func successful() throws(UnsuccessfulResponse) -> TransportResponse {
        guard (200..<300).contains(statusCode) else { throw UnsuccessfulResponse(response: self) }
        return self
    }

    /// Decodes the JSON in the body of a response with the status 2xx.
    ///
    ///     let album = try await session.get("https://photos.example.com/album").decode(Album.self)
    ///
    /// Throws ``UnsuccessfulResponse`` for any other status, and `DecodingError` if the body is not such a value.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(successful().body))
    }
}

/// A response of an API whose status is not 2xx.
public struct UnsuccessfulResponse: Error, Sendable, CustomStringConvertible {
    /// The response.
    public let response: TransportResponse

    /// The description of the problem by the API; nil if it sends none in the format of RFC 9457.
    public var problem: ProblemDetails? {
        guard response.mediaType == "application/problem+json" else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: Data(response.body))
    }

    /// The status and the description of the problem by the API, safe to show to users.
    public var description: String {
        let problem = problem
        let reasons = [problem?.title, problem?.detail].compactMap { text in
            text.map { String($0.strippingControlCharacters.prefix(300)) }
        }
        return (["the API responded with the status \(response.statusCode)"] + reasons).joined(separator: ": ")
    }
}

/// The description of a problem by an API (`application/problem+json`, RFC 9457 §3.1).
///
/// A member of another type than the standard's counts as absent. To read further members (RFC 9457 §3.2), decode the
/// body of the response.
public struct ProblemDetails: Sendable, Hashable, Decodable {
    /// `type`: the URI of the kind of problem; `about:blank` if the status says everything.
    public let type: String
    /// `title`: a short summary of the kind of problem.
    public let title: String?
    /// `status`: the HTTP status that the API generated, which a proxy may have changed.
    public let status: Int?
    /// `detail`: an explanation of this occurrence of the problem.
    public let detail: String?
    /// `instance`: the URI of this occurrence of the problem.
    public let instance: String?

    private enum CodingKeys: String, CodingKey { case type, title, status, detail, instance }

    /// Decodes a problem; members of a wrong type are ignored.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        type = text(.type) ?? "about:blank"
        title = text(.title)
        status = try? members.decode(Int.self, forKey: .status)
        detail = text(.detail)
        instance = text(.instance)
    }
}
