package import CounterfoilServer
import Foundation

extension Reply {
    /// The members of the JSON object in the body.
    package var members: [String: Any] {
        get throws {
            guard let members = try JSONSerialization.jsonObject(with: Data(try json)) as? [String: Any] else {
                throw UnexpectedReply(needed: "a JSON object", reply: self)
            }
            return members
        }
    }

    /// The JSON body as text.
    package var text: String { get throws { String(decoding: try json, as: UTF8.self) } }
}
