#if !os(Windows)
    import CounterfoilProtocol

    /// The first line of a token file: the format and the location of the key.
    ///
    /// The line is not encrypted. AES-GCM authenticates it as additional data.
    struct TokenFileHeader: Sendable, Hashable {
        enum KeyLocation: Sendable, Hashable {
            /// The key file beside the token file.
            case file
            /// The item of the Secret Service with this identifier.
            case secretService(String)
        }

        let keyLocation: KeyLocation
        /// The bytes of the line, including its line feed.
        let bytes: [UInt8]

        private static let name = "counterfoil tokens "

        /// Creates the header of a new file, in version 1 of the format.
        init(_ keyLocation: KeyLocation) {
            self.keyLocation = keyLocation
            let words =
                switch keyLocation {
                case .file: "key-file"
                case .secretService(let identifier): "secret-service \(identifier)"
                }
            bytes = Array("\(Self.name)1 \(words)\n".utf8)
        }

        /// Parses the first line of a file; throws `newer` if a later version of this program wrote the file.
        init(beginning file: [UInt8], at path: String) throws(TokenStoreError) {
            guard let end = file.prefix(128).firstIndex(of: UInt8(ascii: "\n")) else { throw .unreadable(path: path) }
            bytes = Array(file[...end])
            let line = String(decoding: bytes.dropLast(), as: UTF8.self)
            guard line.hasPrefix(Self.name) else { throw .unreadable(path: path) }
            let words = line.dropFirst(Self.name.count).split(separator: " ", omittingEmptySubsequences: false)
            switch (words.first, words.dropFirst().first, words.count) {
            case ("1", "key-file", 2): keyLocation = .file
            case ("1", "secret-service", 3):
                let identifier = String(words[2])
                guard Base64URL.decode(identifier)?.count == 16 else { throw .unreadable(path: path) }
                keyLocation = .secretService(identifier)
            case (let number?, _, _):
                guard let number = Int(number), number > 1 else { throw .unreadable(path: path) }
                throw .newer(location: path)
            case (nil, _, _): throw .unreadable(path: path)
            }
        }

        /// Returns the location of the key for the token file at `path`.
        func location(of path: String) -> TokenFileKeyLocation {
            switch keyLocation {
            case .file: .file(TokenFileKeys.file(of: path))
            case .secretService: .secretService
            }
        }
    }
#endif
