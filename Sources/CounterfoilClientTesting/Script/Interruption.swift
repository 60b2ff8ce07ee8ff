/// A scripted answer that replaces responses of an endpoint.
public struct Interruption: Sendable, Hashable, Codable {
    /// The time of the replacement: before or after the server processes the request.
    public enum Moment: String, Sendable, Hashable, Codable {
        /// The server does not process the request, which therefore has no effect.
        case before
        /// The server processes the request, which therefore takes effect; only the response is replaced.
        case after
    }

    /// The endpoint whose responses are replaced.
    public var endpoint: ScriptedEndpoint
    /// The `grant_type` of the affected requests; nil affects every request.
    public var grantType: String?
    /// The number of affected requests that are answered normally before the first replacement.
    public var skipped: Int
    /// The number of responses that are replaced; nil replaces all later responses.
    public var count: Int?
    /// The time of the replacement, which decides if the request takes effect.
    public var moment: Moment
    /// The answer that the client receives instead of the response of the endpoint.
    public var answer: ScriptedAnswer

    /// Creates an interruption, which by default replaces every response of the endpoint.
    public init(
        at endpoint: ScriptedEndpoint, grantType: String? = nil, skipping skipped: Int = 0, times count: Int? = nil,
        _ answer: ScriptedAnswer, moment: Moment = .before
    ) {
        self.endpoint = endpoint
        self.grantType = grantType
        self.skipped = skipped
        self.count = count
        self.moment = moment
        self.answer = answer
    }

    func concerns(_ request: RecordedRequest) -> Bool {
        request.endpoint == endpoint && (grantType == nil || request.form["grant_type"] == grantType)
    }

    /// Returns true if the answer replaces the response to an affected request; `number` counts
    /// these requests from zero.
    func applies(to number: Int) -> Bool { number >= skipped && number < skipped + (count ?? Int.max - skipped) }
}
