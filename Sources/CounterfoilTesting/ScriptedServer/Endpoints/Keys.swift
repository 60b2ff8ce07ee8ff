import CounterfoilTokens
import Foundation

/// The keys that a scripted server signs with.
struct MiniatureKeys: Sendable {
    /// The key of the next signature.
    private(set) var current: SigningKey
    /// A key that nothing is signed with.
    let decoy: SigningKey
    /// How often the keys were fetched.
    var fetches = 0

    /// An RSA key takes long to make, so that servers begin with the same one.
    private static let rsa = Result { try SigningKey.generate(.rs256) }

    init(algorithm: SigningAlgorithm) throws {
        current = algorithm == .rs256 ? try Self.rsa.get() : try SigningKey.generate(algorithm)
        decoy = try SigningKey.generate(.es256)
    }

    /// Makes a new key in the place of the current one.
    mutating func rotate(to algorithm: SigningAlgorithm) throws { current = try SigningKey.generate(algorithm) }
}

extension MiniatureServer {
    /// RFC 7517 §5.
    mutating func keySet() throws -> ScriptedAnswer {
        if keys.current.algorithm != script.keys.algorithm { try keys.rotate(to: script.keys.algorithm) }
        keys.fetches += 1
        let decoy = try Self.members(of: keys.decoy)
        var list = (0..<script.keys.decoys).map { number in
            WireValue.object(decoy.changed(replacing: [WireMember("kid", .text("decoy-\(number)"))], omitting: []))
        }
        list.append(.object(keys.fetches <= script.keys.staleAnswers ? decoy : try Self.members(of: keys.current)))
        return json([WireMember("keys", .list(list))], at: .keys)
    }

    private static func members(of key: SigningKey) throws -> [WireMember] {
        guard
            case .object(let members) = try JSONDecoder().decode(
                WireValue.self, from: JSONEncoder().encode(key.publicKey))
        else { return [] }
        return members
    }
}
