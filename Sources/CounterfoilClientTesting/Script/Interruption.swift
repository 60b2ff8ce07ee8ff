/// A scripted answer that replaces responses of an endpoint.
public struct Interruption: Sendable, Hashable, Codable {
    /// The moment at which the answer replaces the response.
    public enum Moment: String, Sendable, Hashable, Codable {
        /// Instead of processing the request, which then has no effect.
        case before
        /// After processing the request: it takes effect, and only the response is lost.
        case after
    }

    /// The endpoint whose responses are replaced.
    public var endpoint: ScriptedEndpoint
    /// The `grant_type` of the affected requests; nil affects every request.
    public var grantType: String?
    /// The number of requests that are answered normally first.
    public var skipped: Int
    /// The number of responses that are replaced; nil replaces all that follow.
    public var count: Int?
    /// The moment at which the answer replaces the response.
    public var moment: Moment
    /// The answer that is sent.
    public var answer: ScriptedAnswer

    /// Creates an interruption of an endpoint.
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

    /// Returns whether the answer replaces the response to a request, counted from zero.
    func applies(to number: Int) -> Bool { number >= skipped && number < skipped + (count ?? Int.max - skipped) }
}
