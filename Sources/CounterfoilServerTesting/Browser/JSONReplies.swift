package import CounterfoilServer
import Foundation

extension Reply {
    /// The members of a JSON object.
    package var members: [String: Any] {
        get throws {
            guard let members = try JSONSerialization.jsonObject(with: Data(try json)) as? [String: Any] else {
                throw UnexpectedReply(needed: "a JSON object", reply: self)
            }
            return members
        }
    }

    /// The body as text.
    package var text: String { get throws { String(decoding: try json, as: UTF8.self) } }
}
