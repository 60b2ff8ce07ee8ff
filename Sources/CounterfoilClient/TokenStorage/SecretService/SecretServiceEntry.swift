#if os(Linux)
    import CounterfoilProtocol
    import CounterfoilPlatform

    /// The items of a profile in the Secret Service: one main item, and further items with parts of the record if
    /// the record is too long for one item.
    ///
    /// Parts are in one of two slots, and the main item names the slot in use. A write first stores the new
    /// parts in the unused slot, and then replaces the main item as a whole. A process that is killed during a
    /// write therefore leaves either the old record or the new one.
    struct SecretServiceEntry: Sendable {
        let application: ApplicationIdentifier
        let profile: ProfileName
        let service: SecretService

        /// The contents of the main item.
        enum Item: Sendable, Hashable {
            /// The record itself, in base64url.
            case whole(String)
            /// The number of parts in a slot, and the SHA-256 digest of their concatenation.
            case parts(count: Int, slot: Slot, digest: String)
        }

        /// One of the two sets of items for parts.
        enum Slot: String, Sendable {
            case first = "a"
            case second = "b"

            var other: Slot { self == .first ? .second : .first }
        }

        fileprivate static let largestCount = 64

        private var label: String { "\(application.label): profile \(profile)" }
        private var location: String { "\(SecretService.name) (profile \(profile))" }

        private var attributes: SecretService.Attributes {
            SecretService.Attributes(kind: .credentials, of: application, ["profile": profile.rawValue])
        }

        /// Reads the record and its main item; returns nil if there is none.
        func read() async throws(TokenStoreError) -> (record: TokenRecord, item: Item)? {
            var last: String?
            while let text = try await service.lookup(attributes) {
                let item = try Item(parsing: text, at: location)
                if let bytes = try await bytes(of: item) {
                    return (try TokenRecord(stored: Data(bytes), at: location), item)
                }
                // Parts that are missing or do not match the digest may result from a concurrent write, so read
                // again. If the main item is then still the same, the parts are damaged.
                guard text != last else { throw .damaged(location: location) }
                last = text
            }
            return nil
        }

        /// Writes a record and replaces the old main item, if there is one.
        func write(_ record: TokenRecord, over old: Item?) async throws(TokenStoreError) {
            let text = Base64URL.encode(try record.stored(at: location))
            let item: Item
            let whole = Item.whole(text)
            if whole.text.utf8.count <= SecretService.byteLimit {
                item = whole
            } else {
                item = try await writeParts(of: text, into: old?.slot?.other ?? .first)
            }
            try await service.store(item.text, as: attributes, label: label)
            if let slot = old?.slot { try await service.clear(parts(in: slot)) }
        }

        /// Deletes the main item, and then the parts in both slots.
        func remove() async throws(TokenStoreError) {
            try await service.clear(attributes)
            try await service.clear(
                SecretService.Attributes(kind: .credentialsPart, of: application, ["profile": profile.rawValue]))
        }

        private func writeParts(of text: String, into slot: Slot) async throws(TokenStoreError) -> Item {
            let bytes = Array(text.utf8)
            let starts = Array(stride(from: 0, to: bytes.count, by: SecretService.byteLimit))
            guard starts.count <= Self.largestCount else {
                throw .failed(path: location, reason: "the credentials are too large")
            }
            for (index, start) in starts.enumerated() {
                let part = bytes[start..<min(start + SecretService.byteLimit, bytes.count)]
                try await service.store(
                    String(decoding: part, as: UTF8.self), as: self.part(index, in: slot),
                    label: "\(label) (part \(index + 1))")
            }
            return .parts(count: starts.count, slot: slot, digest: SentDigest.ofText(text))
        }

        private func bytes(of item: Item) async throws(TokenStoreError) -> [UInt8]? {
            switch item {
            case .whole(let text):
                guard let bytes = Base64URL.decode(text) else { throw .damaged(location: location) }
                return bytes
            case .parts(let count, let slot, let digest):
                var text = ""
                for index in 0..<count {
                    guard let part = try await service.lookup(part(index, in: slot)) else { return nil }
                    text += part
                }
                return SentDigest.ofText(text) == digest ? Base64URL.decode(text) : nil
            }
        }

        private func parts(in slot: Slot) -> SecretService.Attributes {
            SecretService.Attributes(
                kind: .credentialsPart, of: application, ["profile": profile.rawValue, "slot": slot.rawValue])
        }

        private func part(_ index: Int, in slot: Slot) -> SecretService.Attributes {
            SecretService.Attributes(
                kind: .credentialsPart, of: application,
                ["profile": profile.rawValue, "slot": slot.rawValue, "part": "\(index)"])
        }
    }

    extension SecretServiceEntry.Item {
        private static let mark = "counterfoil"
        private static let version = "1"

        /// The main item as the text that the Secret Service stores, a single line.
        var text: String {
            let words: [String] =
                switch self {
                case .whole(let text): ["whole", text]
                case .parts(let count, let slot, let digest): ["parts", "\(count)", slot.rawValue, digest]
                }
            return ([Self.mark, Self.version] + words).joined(separator: " ")
        }

        /// Parses the secret of a main item.
        init(parsing text: String, at location: String) throws(TokenStoreError) {
            let words = text.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
            guard words.count >= 3, words[0] == Self.mark, let version = Int(words[1]) else {
                throw .damaged(location: location)
            }
            guard version <= 1 else { throw .newer(location: location) }
            switch (words[2], words.count) {
            case ("whole", 4): self = .whole(words[3])
            case ("parts", 6):
                guard
                    let count = Int(words[3]), (1...SecretServiceEntry.largestCount).contains(count),
                    let slot = SecretServiceEntry.Slot(rawValue: words[4])
                else { throw .damaged(location: location) }
                self = .parts(count: count, slot: slot, digest: words[5])
            default: throw .damaged(location: location)
            }
        }

        fileprivate var slot: SecretServiceEntry.Slot? {
            switch self {
            case .whole: nil
            case .parts(_, let slot, _): slot
            }
        }
    }
#endif
