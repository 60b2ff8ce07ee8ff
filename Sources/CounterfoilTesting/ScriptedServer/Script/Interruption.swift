/// A scripted answer in the place of the server's own.
public struct Interruption: Sendable, Hashable, Codable {
    /// Whether the request still has its effect.
    public enum Moment: String, Sendable, Hashable, Codable {
        /// The server does nothing.
        case before
        /// The server does all that was asked, and only then answers otherwise: the answer is lost.
        case after
    }

    /// The endpoint whose answers it replaces.
    public var endpoint: ScriptedEndpoint
    /// The `grant_type` to which it is confined; nil is any.
    public var grantType: String?
    /// How many requests are answered as usual first.
    public var skipped: Int
    /// How many answers are replaced; nil is all that come.
    public var count: Int?
    /// Whether the request still has its effect.
    public var moment: Moment
    /// What is answered.
    public var answer: ScriptedAnswer

    /// Makes an interruption.
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

    /// Whether it takes the place of the answer to the request of this number, counted from zero.
    func applies(to number: Int) -> Bool { number >= skipped && number < skipped + (count ?? Int.max - skipped) }
}
