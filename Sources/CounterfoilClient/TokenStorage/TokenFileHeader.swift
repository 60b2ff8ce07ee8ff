#if !os(Windows)
    import CounterfoilProtocol

    /// The first line of an encrypted file: its form, and where its key is; the encryption authenticates it too.
    struct TokenFileHeader: Sendable, Hashable {
        /// Where the key of a file is, as the file says.
        enum KeyPlace: Sendable, Hashable {
            /// In the file beside it.
            case file
            /// In the Secret Service, under an identifier.
            case secretService(String)
        }

        /// The form of what is encrypted.
        enum Form: Sendable, Hashable {
            /// Bare credentials by profile.
            case credentials
            /// Records by profile.
            case records
        }

        let place: KeyPlace
        let form: Form
        /// The line with its end.
        let bytes: [UInt8]

        private static let name = "counterfoil tokens "

        /// The line of a file that is written now.
        init(_ place: KeyPlace) {
            self.place = place
            form = .records
            let words =
                switch place {
                case .file: "key-file"
                case .secretService(let identifier): "secret-service \(identifier)"
                }
            bytes = Array("\(Self.name)2 \(words)\n".utf8)
        }

        /// Reads the line with which a file begins.
        init(beginning file: [UInt8], at path: String) throws(TokenStoreError) {
            guard let end = file.prefix(128).firstIndex(of: UInt8(ascii: "\n")) else { throw .unreadable(path: path) }
            bytes = Array(file[...end])
            let line = String(decoding: bytes.dropLast(), as: UTF8.self)
            guard line.hasPrefix(Self.name) else { throw .unreadable(path: path) }
            let words = line.dropFirst(Self.name.count).split(separator: " ", omittingEmptySubsequences: false)
            switch (words.first, words.dropFirst().first, words.count) {
            case ("1", _, 1): (place, form) = (.file, .credentials)
            case ("2", "key-file", 2): (place, form) = (.file, .records)
            case ("2", "secret-service", 3):
                let identifier = String(words[2])
                guard Base64URL.decode(identifier)?.count == 16 else { throw .unreadable(path: path) }
                (place, form) = (.secretService(identifier), .records)
            case (let number?, _, _):
                guard let number = Int(number), number > 2 else { throw .unreadable(path: path) }
                throw .newer(place: path)
            case (nil, _, _): throw .unreadable(path: path)
            }
        }

        /// The place of the key, as others may know it.
        func location(of path: String) -> TokenFileKeyLocation {
            switch place {
            case .file: .file(TokenFileKeys.file(of: path))
            case .secretService: .secretService
            }
        }
    }
#endif
