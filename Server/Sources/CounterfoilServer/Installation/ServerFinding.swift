/// A result of one check of the server, as `counterfoil-server doctor` and a page of the administration show it.
package struct ServerFinding: Sendable, Hashable, Encodable {
    /// The severity of a finding, in ascending order.
    package enum Weight: String, Sendable, Encodable, CaseIterable {
        /// The state is correct.
        case sound
        /// The server works, but the state deserves attention.
        case advice
        /// The state prevents sign-ins, loses data or is unsafe.
        case fault
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case weight, topic, text, mend }

    package let weight: Weight
    /// A stable identifier of the finding for scripts, such as `clock-unsynchronized`.
    package let topic: String
    package let text: String
    /// The remedy; nil if none is needed.
    package let mend: String?

    package init(_ weight: Weight, _ topic: String, _ text: String, mend: String? = nil) {
        self.weight = weight
        self.topic = topic
        self.text = text
        self.mend = mend
    }
}

extension [ServerFinding] {
    /// The findings in descending order of severity.
    package var mostSevereFirst: [ServerFinding] {
        ServerFinding.Weight.allCases.reversed().flatMap { weight in filter { $0.weight == weight } }
    }
}

/// A number of bytes, printed with a unit.
package struct ByteCount: CustomStringConvertible {
    package let bytes: Int

    package init(_ bytes: Int) { self.bytes = bytes }

    package var description: String {
        let (kilo, mega, giga) = (1 << 10, 1 << 20, 1 << 30)
        switch bytes {
        case ..<mega: return "\((bytes + kilo - 1) / kilo) KiB"
        case ..<giga: return "\(bytes / mega) MiB"
        default: return "\(bytes / giga).\(bytes % giga * 10 / giga) GiB"
        }
    }
}
