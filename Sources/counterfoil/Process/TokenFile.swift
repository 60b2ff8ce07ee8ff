import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// A file of mode 0600 that contains only an access token, in a directory of its own.
struct TokenFile: Sendable {
    private let directory: String

    var path: String { "\(directory)/token" }

    /// Creates the directory, with mode 0700, and the file.
    init(_ token: AccessToken) throws(Failure) {
        let parent = Self.parent
        var template = Array("\(parent)/counterfoil-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .unavailable,
                "no directory for the token can be created in \(parent): \(String(cString: strerror(errno)))")
        }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(Failure) { try replace(with: token) } catch {
            remove()
            throw error
        }
    }

    /// The directory in memory that the system deletes when the user's session ends, or else that for temporary files.
    private static var parent: String {
        let environment = ProcessInfo.processInfo.environment
        let named = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"]].compactMap(\.self)
        return named.first { $0.hasPrefix("/") && access($0, W_OK | X_OK) == 0 } ?? "/tmp"
    }

    /// Replaces the token; a program that reads the file finds either the former token or this one.
    func replace(with token: AccessToken) throws(Failure) {
        do throws(TokenStoreError) { try PrivateFile(path: path).replace(with: Array(token.exposed.utf8)) } catch {
            throw Failure(.unavailable, "the token cannot be written to a file: \(error)")
        }
    }

    /// Deletes the file and its directory.
    func remove() {
        unlink(path)
        rmdir(directory)
    }
}
