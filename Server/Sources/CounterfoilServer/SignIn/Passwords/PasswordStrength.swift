@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The estimate of how many guesses a password takes, by libzxcvbn (`zxcvbn.h`).
///
/// The library knows words, names, dates, keyboard patterns and their usual variations. It is loaded at run time, so
/// the server also runs without it. It stays loaded.
package final class PasswordStrength: Sendable {
    /// The library of the system; nil if libzxcvbn is not installed.
    package static let system = PasswordStrength(libraryNames: names)

    /// The bits of a password that takes 10⁸ guesses, which zxcvbn calls safely unguessable (score 3).
    package static let required = 26.575

    /// The maximum number of bytes that the library estimates, because its time grows faster than the length.
    ///
    /// A longer password is judged by its beginning. With this limit, an estimate takes at most a few milliseconds.
    package static let byteLimit = 100

    /// The maximum number of words of the user.
    private static let wordLimit = 32

    /// The names under which systems install the library.
    ///
    /// The dynamic linker never looks in the current folder for a name without a slash.
    private static let names: [String] = {
        #if canImport(Darwin)
            ["/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"].map { "\($0)/libzxcvbn.dylib" }
        #else
            ["libzxcvbn.so.0"]
        #endif
    }()

    // double ZxcvbnMatch(const char *Passwd, const char *UserDict[], ZxcMatch_t **Info)
    private typealias Match =
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<UnsafePointer<CChar>?>?, UnsafeMutableRawPointer?
        ) -> Double

    private let match: Mutex<Match>

    /// Loads the first library that the system has; nil if it has none.
    package init?(libraryNames: [String]) {
        for name in libraryNames {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            guard let match = dlsym(library, "ZxcvbnMatch") else {
                dlclose(library)
                continue
            }
            self.match = Mutex(unsafeBitCast(match, to: Match.self))
            return
        }
        return nil
    }

    /// Returns the bits of a password: the binary logarithm of the estimated number of guesses.
    ///
    /// - Parameters:
    ///   - password: The password, of which the library sees the first ``byteLimit`` bytes.
    ///   - words: Words that are easy to guess for this user, in lower case.
    package func bits(of password: String, knowing words: [String]) -> Double {
        let words = words.prefix(Self.wordLimit).map(Self.terminated)
        // All words are in one buffer, to which the library gets a pointer for each, and a null pointer at the end.
        let pool = words.flatMap(\.self)
        let offsets = words.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }.dropLast()
        return pool.withUnsafeBufferPointer { pool in
            var list = offsets.map { offset in pool.baseAddress.map { $0 + offset } } + [nil]
            return match.withLock { $0(Self.terminated(password), &list, nil) }
        }
    }

    /// Returns the bytes of a text up to the limit, with a zero at the end.
    private static func terminated(_ text: String) -> [CChar] {
        text.utf8.prefix(byteLimit).prefix { $0 != 0 }.map(CChar.init(bitPattern:)) + [0]
    }
}

/// The words by which others would guess the password of a user.
package struct WordsOfUser: Sendable {
    /// The words in lower case, whole names first.
    let all: [String]

    /// Creates the words from the names of a user, and from the host at which the user signs in.
    package init(username: Username, email: EmailAddress?, displayName: String?, host: String?) {
        let names = [username.rawValue, email?.rawValue, displayName, host, "counterfoil"]
        let texts = names.compactMap { $0?.lowercased() }
        let joined = texts.map { text in text.filter { !$0.isWhitespace } }
        let parts = texts.flatMap { text in text.split { !$0.isLetter && !$0.isNumber }.map(String.init) }
        // Parts of one or two letters are in most passwords.
        all = (texts + joined + parts).reduce(into: []) { words, word in
            if word.count >= 3, !words.contains(word) { words.append(word) }
        }
    }
}
