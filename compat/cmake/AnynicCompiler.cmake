# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Compiler settings shared by every target.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# struct ethhdr-like types overlay received bytes, hence -fno-strict-aliasing.
add_compile_options(
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wundef -Wvla
    -Wmissing-prototypes -Wstrict-prototypes -Wswitch -Wformat=2 -Werror
    -fno-strict-aliasing -fno-common)
add_compile_definitions(_GNU_SOURCE)
include_directories(${CMAKE_SOURCE_DIR})

if(ANYNIC_SANITIZE OR ANYNIC_FUZZ)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
if(ANYNIC_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
