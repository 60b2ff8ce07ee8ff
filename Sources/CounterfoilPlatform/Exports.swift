// The system libraries of the SDK, so that a file imports one module on every system: the C library, and Foundation
// without internationalization, which the client must not link.
#if canImport(FoundationEssentials)
    @_exported public import FoundationEssentials
#else
    @_exported public import Foundation
#endif

#if canImport(Darwin)
    @_exported public import Darwin
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Glibc)
    @_exported public import Glibc
#endif
