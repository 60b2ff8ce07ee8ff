import CArgon2
public import CounterfoilProtocol
import Dispatch
import Foundation
import Synchronization

/// What somebody typed as a password: 8 to 1024 bytes to be set, at most 4096 to be tried; never truncated.
public struct Password: Secret {
    /// The most bytes that are hashed.
    public static let byteLimit = 4096

    /// The text as typed.
    public let exposed: String

    /// A password to try, or nil when it is empty or longer than ``byteLimit``.
    public init?(typed text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Why a password is not good enough to be set.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Fewer than 8 characters.
        case tooShort
        /// More than 1024 bytes.
        case tooLong
        /// It is, or holds little more than, the user name.
        case sameAsName

        /// What to do, safe to show.
        public var description: String {
            switch self {
            case .tooShort: "Choose a password of at least 8 characters; 15 or more are better."
            case .tooLong: "Choose a password of at most 1024 bytes."
            case .sameAsName: "Choose a password that is not the user name."
            }
        }
    }

    /// A password to set.
    public init(choosing text: String, for username: Username) throws(Refusal) {
        guard text.count >= 8 else { throw .tooShort }
        guard text.utf8.count <= 1024 else { throw .tooLong }
        guard text.lowercased() != username.rawValue else { throw .sameAsName }
        exposed = text
    }
}

/// Argon2id on threads of its own, never more at once than cores, with a bounded queue (RFC 9106 §4).
///
/// 19 MiB, two passes, one lane. A hash takes tens of milliseconds; an event loop must not wait for it.
public final class PasswordHasher: Sendable {
    /// More hashes wait than the queue holds.
    public struct Overloaded: Error, Sendable {
        /// When to try again, in seconds.
        public let retryAfter: Int
    }

    /// Argon2 itself failed, which only lack of memory can cause.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The code of libargon2.
        public let code: Int32

        /// What happened, for the log.
        public var description: String { "Argon2 failed with code \(code)" }
    }

    private let queue = DispatchQueue(label: "counterfoil.passwords", attributes: .concurrent)
    private let cores: Int
    private let capacity: Int
    private let state = Mutex(State())
    private let random: RandomBytes

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    /// Makes a hasher; `cores` is how many hashes may run, all cores unless given, and `capacity` how many may wait.
    public init(cores: Int? = nil, capacity: Int = 64, random: RandomBytes = RandomBytes()) {
        self.cores = max(1, cores ?? ProcessInfo.processInfo.activeProcessorCount)
        self.capacity = capacity
        self.random = random
    }

    /// Hashes a password with a new salt.
    public func hash(_ password: Password) async throws -> PasswordHash {
        let salt = random.bytes(16)
        return try await run { try Self.encode(password, salt: salt) }
    }

    /// Whether a password is the hashed one.
    ///
    /// Without a hash the same work is done on one that nobody has, so that the time does not tell whether there is a person.
    public func verify(_ password: Password, against hash: PasswordHash?) async throws -> Bool {
        try await run {
            let matches = Self.matches(password, hash ?? Self.nobody)
            return matches && hash != nil
        }
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let job: @Sendable () -> Void = {
                continuation.resume(with: Result { try work() })
                self.finish()
            }
            let refused = state.withLock { state in
                if state.running < cores {
                    state.running += 1
                    queue.async(execute: job)
                    return false
                }
                guard state.waiting.count < capacity else { return true }
                state.waiting.append(job)
                return false
            }
            if refused { continuation.resume(throwing: Overloaded(retryAfter: 2)) }
        }
    }

    private func finish() {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return
            }
            queue.async(execute: state.waiting.removeFirst())
        }
    }

    private static let passes: UInt32 = 2
    private static let memoryKiB: UInt32 = 19 * 1024
    private static let hashLength = 32

    /// A hash of the same cost that no password has.
    private static let nobody = PasswordHash(
        encoded: "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    )

    private static func encode(_ password: Password, salt: [UInt8]) throws -> PasswordHash {
        let bytes = Array(password.exposed.utf8)
        let length = argon2_encodedlen(passes, memoryKiB, 1, UInt32(salt.count), UInt32(hashLength), Argon2_id)
        var encoded = [CChar](repeating: 0, count: Int(length))
        let code = argon2id_hash_encoded(
            passes, memoryKiB, 1, bytes, bytes.count, salt, salt.count, hashLength, &encoded, encoded.count
        )
        guard code == ARGON2_OK.rawValue else { throw Failure(code: code) }
        return PasswordHash(
            encoded: String(decoding: encoded.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    private static func matches(_ password: Password, _ hash: PasswordHash) -> Bool {
        let bytes = Array(password.exposed.utf8)
        return argon2id_verify(hash.exposed, bytes, bytes.count) == ARGON2_OK.rawValue
    }
}
