import CounterfoilTokens
import Foundation

/// The signing keys of a scripted server.
struct MiniatureKeys: Sendable {
    /// The key with which the server signs.
    private(set) var current: SigningKey
    /// A key that signs nothing; the script can publish it as a stale key or as an unused key.
    let decoy: SigningKey
    /// The number of requests for the key set so far.
    var fetches = 0

    /// The RSA key with which all servers of this process start.
    ///
    /// The servers share it, because generating an RSA key is slow.
    private static let rsa = Result { try SigningKey.generate(.rs256) }

    init(algorithm: SigningAlgorithm) throws {
        current = algorithm == .rs256 ? try Self.rsa.get() : try SigningKey.generate(algorithm)
        decoy = try SigningKey.generate(.es256)
    }

    /// Generates a new key, with which the server signs from now on.
    mutating func rotate(to algorithm: SigningAlgorithm) throws { current = try SigningKey.generate(algorithm) }
}

extension MiniatureServer {
    /// Returns the published key set (RFC 7517 §5).
    mutating func keySet() throws -> ScriptedAnswer {
        if keys.current.algorithm != script.keys.algorithm { try keys.rotate(to: script.keys.algorithm) }
        keys.fetches += 1
        let decoy = try Self.members(of: keys.decoy)
        // Ten thousand keys are written in a moment, because they differ in their first member only.
        let rest = WireValue.object(decoy.changed(replacing: [], omitting: ["kid"])).written.dropFirst()
        var list = (0..<script.keys.decoys).map { WireValue.raw("{\"kid\":\"decoy-\($0)\",\(rest)") }
        list.append(.object(keys.fetches <= script.keys.staleAnswers ? decoy : try Self.members(of: keys.current)))
        if script.keys.changesOrder, keys.fetches.isMultiple(of: 2) { list.reverse() }
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
