import CounterfoilPlatform
import HTTPTypes

extension TransportResponse {
    /// The delay in `Retry-After`, at most one day; nil if the field is missing or invalid (RFC 9110 §10.2.3).
    var retryAfter: Duration? {
        guard let text = head.headerFields[.retryAfter] else { return nil }
        let seconds: Double
        if let number = Int(text) {
            seconds = Double(number)
        } else if let date = HTTPDate.parse(text) {
            seconds = date.timeIntervalSinceNow.rounded(.up)
        } else {
            return nil
        }
        return .seconds(min(max(seconds, 0), 86400))
    }
}
