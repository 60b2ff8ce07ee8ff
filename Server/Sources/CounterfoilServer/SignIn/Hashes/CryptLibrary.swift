#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The functions of libxcrypt that compute hashes of crypt(5).
///
/// The library is loaded at run time, so the server also runs without it. It stays loaded.
final class CryptLibrary: Sendable {
    /// The library of the system; nil if libxcrypt is not installed, as on macOS.
    static let system = CryptLibrary(libraryNames: ["libcrypt.so.1", "libcrypt.so.2"])

    // char *crypt_rn(const char *phrase, const char *setting, void *data, int size)
    private typealias Crypt =
        @Sendable @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, CInt
        ) -> UnsafeMutablePointer<CChar>?
    // int crypt_checksalt(const char *setting)
    private typealias CheckSalt = @Sendable @convention(c) (UnsafePointer<CChar>) -> CInt

    private let crypt: Crypt
    private let checkSalt: CheckSalt

    /// `sizeof(struct crypt_data)` of `crypt.h`, which is part of the binary interface.
    private static let dataSize = 32_768
    /// `CRYPT_MAX_PASSPHRASE_SIZE`, with the zero at the end.
    private static let passwordLimit = 512
    /// `CRYPT_SALT_INVALID` and `CRYPT_SALT_METHOD_DISABLED`.
    private static let refused: Set<CInt> = [1, 2]

    /// Loads the first library that the system has; nil if it has none.
    ///
    /// The dynamic linker never looks in the current folder for a name without a slash. The libcrypt of glibc has
    /// neither function.
    private init?(libraryNames: [String]) {
        for name in libraryNames {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            guard let crypt = dlsym(library, "crypt_rn"), let checkSalt = dlsym(library, "crypt_checksalt") else {
                dlclose(library)
                continue
            }
            self.crypt = unsafeBitCast(crypt, to: Crypt.self)
            self.checkSalt = unsafeBitCast(checkSalt, to: CheckSalt.self)
            return
        }
        return nil
    }

    /// Returns true if the library computes hashes with a setting, which the beginning of each hash is.
    func supports(_ setting: String) -> Bool { !Self.refused.contains(checkSalt(setting)) }

    /// Returns the hash of a password; nil if the password contains NUL or is too long, or if the library fails.
    func hash(of password: String, setting: String) -> String? {
        guard password.utf8.count < Self.passwordLimit, !password.utf8.contains(0) else { return nil }
        let data = UnsafeMutableRawPointer.allocate(byteCount: Self.dataSize, alignment: 16)
        data.initializeMemory(as: UInt8.self, repeating: 0, count: Self.dataSize)
        defer { data.deallocate() }
        return crypt(password, setting, data, CInt(Self.dataSize)).map { String(cString: $0) }
    }
}
