import CounterfoilStore
import Foundation

extension UserProfile {
    /// The JSON text of the profile, as it is stored.
    var text: String {
        get throws { try Self.storable(try JSONEncoder().encode(self)) }
    }

    /// The JSON text of the change of a stored profile to this one.
    var patch: String {
        get throws { try Self.storable(try JSONEncoder().encode(mergePatch)) }
    }

    /// Returns a JSON text; throws if a string in it contains NUL, whose escape not every database accepts.
    private static func storable(_ json: Data) throws(StoreFault) -> String {
        var rest = json[...]
        while let backslash = rest.firstIndex(of: UInt8(ascii: "\\")) {
            let escaped = rest[backslash...].dropFirst()
            guard !escaped.starts(with: "u0000".utf8) else {
                throw .damaged("a text to be stored contains a NUL character")
            }
            // The character after a backslash begins no escape, not even another backslash.
            rest = escaped.dropFirst()
        }
        return String(decoding: json, as: UTF8.self)
    }

    fileprivate init?(text: String) {
        // Most profiles are empty, and need no JSON decoder.
        if text == "{}" {
            self.init()
            return
        }
        guard let profile = try? JSONDecoder().decode(UserProfile.self, from: Data(text.utf8)) else { return nil }
        self = profile
    }
}

extension Columns {
    /// Reads a profile; throws `StoreFault.unsupported` if this version cannot read one of its members.
    mutating func profile() throws(StoreFault) -> UserProfile {
        guard let profile = UserProfile(text: try text()) else { throw .unsupported(unsupported()) }
        return profile
    }
}
