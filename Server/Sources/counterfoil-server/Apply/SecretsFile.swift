import Foundation

/// The file for the secrets of new apps and APIs: one JSON object on each line.
struct SecretsFile {
    private struct Line: Encodable {
        let client_id: String
        let client_secret: String
        let resource: String?
    }

    private let handle: FileHandle
    private let path: String

    /// Creates the file, which only its owner can access; a file that exists is refused.
    init(at path: String) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = errno
            guard reason != EEXIST else {
                throw .refused("--secrets-file: the file \(path) exists, and is not overwritten; name another one")
            }
            throw .refused("--secrets-file: cannot create the file \(path): \(String(cString: strerror(reason)))")
        }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.path = path
    }

    /// Appends the secret of a record.
    func append(_ secret: String, clientID: String, of record: DeclaredRecord) throws {
        let line = try Output.encoded(
            Line(
                client_id: clientID, client_secret: secret, resource: record.kind == .apis ? record.name : nil))
        do { try handle.write(contentsOf: line + Data("\n".utf8)) } catch {
            throw CommandFailure.refused(
                "--secrets-file: cannot write \(path); the secret of \(record.title) is lost, so create another one "
                    + "with: \(record.secretCommand)")
        }
    }

    /// Removes the file if it has no secret, so that the command can be repeated with the same name.
    func removeIfEmpty() {
        if (try? handle.offset()) == 0 { try? FileManager.default.removeItem(atPath: path) }
    }
}
